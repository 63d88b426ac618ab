import { say, spanOf } from '../../../src/doors/page/browser/elements.mjs';
import { rate } from '../../../src/doors/page/browser/figures.mjs';

/** Builds every node's figures at one time, and the charts' legend. Afterwards only its text changes. */
export function buildReadout({ table, views, sides, look, onFocus }) {
  table.replaceChildren(headOf(sides));
  const body = table.createTBody();
  const updates = addRow(body, { title: 'all nodes', className: 'total' }, views, (view) => view.total);
  views[0].nodes.forEach((node, at) => {
    const find = (view) => view.nodes.find(({ name }) => name === node.name);
    const title = node.count > 1 ? `${node.name}, in all` : node.name;
    const about = { title, className: 'node', colour: look.node(node, at), onFocus: (on) => onFocus(on ? at : null) };
    updates.push(...addRow(body, about, views, find));
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

/** @param find the columns of a view for this row. Returns what writes each cell. */
function addRow(body, { title, className, colour, onFocus = () => undefined }, views, find) {
  const row = body.insertRow();
  row.className = className;
  const name = cellOf('th', '', { scope: 'row' });
  if (colour !== undefined) {
    const swatch = spanOf('swatch', '');
    swatch.style.background = colour;
    name.append(swatch);
  }
  name.append(spanOf('name', title));
  name.title = title;
  row.append(name);
  row.addEventListener('pointerenter', () => onFocus(true));
  row.addEventListener('pointerleave', () => onFocus(false));
  const columns = [find(views[0])?.demand, ...views.flatMap((view) => COLUMNS.map((name) => find(view)?.[name]))];
  return columns.map((column) => {
    const cell = row.insertCell();
    return (index) => say(cell, column === undefined ? '–' : rate(column[Math.min(index, column.length - 1)]));
  });
}

function cellOf(tag, text, properties) {
  return Object.assign(document.createElement(tag), properties, { textContent: text });
}
