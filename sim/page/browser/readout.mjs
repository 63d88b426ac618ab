import { spanOf } from '../../../src/page/browser/elements.mjs';
import { rate } from '../../../src/page/browser/figures.mjs';

/** Builds the figures of every node at one time, and the legend of the charts. Afterwards only its text changes. */
export function buildReadout({ table, views, sides, look, onFocus }) {
  table.replaceChildren(headOf(sides));
  const body = table.createTBody();
  const updates = [];
  addRow(
    body,
    'all nodes',
    null,
    'total',
    views,
    (view) => view.total,
    updates,
    () => undefined,
  );
  views[0].nodes.forEach((node, at) => {
    const find = (view) => view.nodes.find(({ name }) => name === node.name);
    const title = node.count > 1 ? `${node.name}, in all` : node.name;
    addRow(body, title, look.node(node, at), 'node', views, find, updates, (on) => onFocus(on ? at : null));
  });
  return (index) => {
    for (const update of updates) update(index);
  };
}

const COLUMNS = ['limit', 'admitted', 'refused'];

function headOf(sides) {
  const head = document.createElement('thead');
  const first = head.insertRow();
  first.append(
    cellOf('th', 'Node', { rowSpan: 2, scope: 'col' }),
    cellOf('th', 'Demand', { rowSpan: 2, scope: 'col' }),
  );
  const second = head.insertRow();
  for (const side of sides) {
    const group = cellOf('th', '', { colSpan: COLUMNS.length, scope: 'colgroup' });
    group.className = `side-${side.toLowerCase()}`;
    group.append(spanOf('badge', side));
    first.append(group);
    for (const column of COLUMNS) second.append(cellOf('th', column, { scope: 'col' }));
  }
  return head;
}

function addRow(body, title, colour, className, views, find, updates, onFocus) {
  const row = body.insertRow();
  row.className = className;
  const name = cellOf('th', '', { scope: 'row' });
  if (colour !== null) {
    const swatch = spanOf('swatch', '');
    swatch.style.background = colour;
    name.append(swatch);
  }
  name.append(spanOf('name', title));
  name.title = title;
  row.append(name);
  const add = (column) => {
    const cell = row.insertCell();
    updates.push((index) => {
      const text = column === undefined ? '–' : rate(column[Math.min(index, column.length - 1)]);
      if (cell.textContent !== text) cell.textContent = text;
    });
  };
  add(find(views[0])?.demand);
  for (const view of views) for (const column of COLUMNS) add(find(view)?.[column]);
  row.addEventListener('pointerenter', () => onFocus(true));
  row.addEventListener('pointerleave', () => onFocus(false));
}

function cellOf(tag, text, properties) {
  return Object.assign(document.createElement(tag), properties, { textContent: text });
}
