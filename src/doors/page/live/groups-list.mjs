import { make, say } from '../browser/elements.mjs';
import { rate } from '../browser/figures.mjs';
import { groupHref } from './addresses.mjs';
import { askJson } from './ask.mjs';
import { quotaBar } from './quota-bar.mjs';
import { tiles } from './tiles.mjs';
import { duration, exceeds, perSecond, textOf } from './wording.mjs';

/** Most lines that the node takes as a window. */
const WINDOW_MAX = 120;
/** Lines beyond those that are seen: a turn of the wheel meets some. */
const SPARE = 12;

/**
 * All groups by heat. Only the lines that are seen are in the page, and only those are pushed: the node keeps the order,
 * and 10,000 groups cost no more than 40.
 */
export class GroupsList {
  constructor(host, { reopen }) {
    Object.assign(this, { reopen, order: 'heat', find: '', ago: 0, asked: { from: 0, count: 60 } });
    Object.assign(this, { rows: new Map(), found: 0, unnamed: 0, pool: [] });
    host.replaceChildren(...this.#build());
    this.resize = new ResizeObserver(() => this.#draw());
    this.resize.observe(this.view);
    this.#draw();
  }

  get query() {
    const { from, count } = this.asked;
    return new URLSearchParams({ order: this.order, find: this.find, from, count });
  }

  take(event, said) {
    if (event === 'node') this.#sayNode(said);
    if (event !== 'groups' || this.ago !== 0) return;
    this.unnamed = said.unnamed;
    this.#show(said.found, said.from, said.rows, said.total);
  }

  /** As the node remembers it: the groups that were busiest. */
  async at(ago) {
    this.ago = ago;
    if (ago === 0) {
      this.reopen();
      return;
    }
    const history = await askJson(`/v1/live/history?ago=${ago}`).catch((error) => error);
    if (this.ago !== ago) return;
    if (history instanceof Error) {
      this.#show(0, 0, [], 0);
      say(this.count, textOf(history));
      return;
    }
    const found = history.rows
      .filter(({ group }) => group.includes(this.find))
      .map((row) => ({ ...row, throttledNodes: null, strategy: '', enabled: true }))
      .sort(this.order === 'name' ? byName : byHeat);
    this.#show(found.length, 0, found, found.length);
  }

  #sayNode({ nodeId, keys, members, reportRoundTripMs, degraded, notReadyBecause }) {
    // Once the list has its lines it grows no more, and what stands below it stays.
    if (this.total !== undefined) say(this.missing, missingText(nodeId, keys, this.unnamed));
    const alive = members.filter(({ state }) => state === 'alive').length;
    const [hottest] = this.order === 'heat' && this.asked.from === 0 ? [this.rows.get(0)] : [];
    const isOver = hottest !== undefined && exceeds(hottest.wanted, hottest.quota);
    const reasons = [...notReadyBecause, ...degraded];
    this.writeTiles([
      [rate(this.total ?? 0), this.total === 1 ? 'direction of a group' : 'directions of groups'],
      hottest?.quota > 0
        ? [`${(hottest.wanted / hottest.quota).toFixed(2)} quotas`, hottest.group, isOver ? 'over' : '']
        : ['–'],
      [String(alive), `of ${members.length} known`],
      [duration(reportRoundTripMs), 'from a report to reading it'],
      reasons.length === 0
        ? ['well', 'nothing is degraded', 'good']
        : [`${reasons.length} to look at`, reasons[0], 'over'],
    ]);
  }

  end() {
    this.resize.disconnect();
  }

  #show(found, from, rows, total) {
    this.found = found;
    if (this.ago === 0) this.total = total;
    this.rows.clear();
    for (const [at, row] of rows.entries()) this.rows.set(from + at, row);
    const ofAll = found === total ? '' : ` of ${total}`;
    const source = this.ago === 0 ? '' : ' that this node remembers';
    say(this.count, `${found}${ofAll} ${total === 1 ? 'line' : 'lines'}${source}`);
    this.#draw();
  }

  #build() {
    const hint = 'Find a group';
    this.search = make('input', { type: 'search', id: 'find', placeholder: hint, 'aria-label': hint });
    this.search.addEventListener('input', () => this.#search());
    const order = make(
      'select',
      { id: 'order' },
      make('option', { value: 'heat', text: 'hottest first' }),
      make('option', { value: 'name', text: 'by name' }),
    );
    order.addEventListener('change', () => {
      this.order = order.value;
      this.#restart();
    });
    this.count = make('span', { className: 'hint', role: 'status' });
    const orderLabel = make('label', { text: 'Order ' }, order);
    const tools = make('div', { className: 'tools' }, this.search, orderLabel, this.count);
    const head = make('div', { className: 'line head', role: 'row' });
    for (const [title, className] of COLUMNS)
      head.append(make('span', { role: 'columnheader', className, text: title }));
    this.body = make('div', { className: 'lines', role: 'rowgroup' });
    const headGroup = make('div', { role: 'rowgroup' }, head);
    this.table = make('div', { role: 'table', 'aria-label': 'Groups' }, headGroup, this.body);
    this.view = make('div', { className: 'list' }, this.table);
    this.view.addEventListener('scroll', () => this.#plan(), { passive: true });
    this.view.addEventListener('keydown', (event) => this.#key(event));
    this.missing = make('p', { className: 'hint missing' });
    const figures = make('div', { className: 'tiles' });
    this.writeTiles = tiles(figures, [
      ['Listed', 'Directions of groups that have a quota'],
      ['Hottest', 'Demand of all nodes, in quotas'],
      ['Nodes alive', 'Members of the cluster'],
      ['Round trip', 'From a report to reading it back'],
      ['This node', 'Reasons for a degraded state'],
    ]);
    return [make('h1', { className: 'out', text: 'Groups' }), figures, tools, this.view, this.missing];
  }

  #search() {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => {
      this.find = this.search.value;
      this.#restart();
    }, 200);
  }

  #restart() {
    this.view.scrollTop = 0;
    this.asked = { ...this.asked, from: 0 };
    if (this.ago === 0) this.reopen();
    else void this.at(this.ago);
  }

  #plan() {
    if (this.planned) return;
    this.planned = requestAnimationFrame(() => {
      this.planned = 0;
      this.#draw();
    });
  }

  /** Lines are moved, not made: a pool as large as the window. */
  #draw() {
    const height = this.#lineHeight();
    const first = Math.max(0, Math.floor(this.view.scrollTop / height) - SPARE);
    const seen = Math.ceil(this.view.clientHeight / height) + 2 * SPARE;
    const count = Math.max(0, Math.min(seen, WINDOW_MAX, this.found - first));
    this.body.style.height = `${this.found * height}px`;
    this.table.setAttribute('aria-rowcount', String(this.found + 1));
    while (this.pool.length < count) this.#addLine();
    for (const [at, line] of this.pool.entries()) {
      line.show(at < count ? first + at : null, this.rows.get(first + at), height);
    }
    this.#follow(first, Math.min(seen, WINDOW_MAX));
  }

  /** Asks for the stream again: the window moved and the wheel rests. */
  #follow(from, count) {
    const isCovered = from >= this.asked.from && from + count <= this.asked.from + this.asked.count;
    if (isCovered || this.ago !== 0 || this.found === 0) return;
    clearTimeout(this.following);
    this.following = setTimeout(() => {
      this.asked = { from, count: Math.min(WINDOW_MAX, count + SPARE) };
      this.reopen();
    }, 80);
  }

  #lineHeight() {
    return this.view.clientWidth < 700 ? 62 : 42;
  }

  #addLine() {
    const line = groupLine();
    this.pool.push(line);
    this.body.append(line.element);
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const line = event.target.closest('.line');
    if (step === undefined || line === null) return;
    event.preventDefault();
    const rank = Number(line.dataset.rank) + step;
    const next = this.pool.find(({ element }) => Number(element.dataset.rank) === rank);
    next?.element.querySelector('a').focus();
  }
}

/** Counts what has no line: records name no keys, and heartbeats the busiest alone. */
function missingText(nodeId, keys, unnamed) {
  if (keys.length === 0 && unnamed === 0) return '';
  const templates = keys.map(({ template, live, loud }) => `${template} ${rate(live)} in use, ${rate(loud)} loud`);
  const here =
    templates.length === 0
      ? ''
      : `Keys at node ${nodeId}: ${templates.join('; ')}. The busiest of all nodes have lines. `;
  if (unnamed === 0) return here;
  const count =
    unnamed === 1 ? '1 direction of a key or group is' : `${rate(unnamed)} directions of keys or groups are`;
  return `${here}${count} in use elsewhere, and named only on the pages of the nodes that use them.`;
}

function byName({ group }, { group: other }) {
  if (group === other) return 0;
  return group < other ? -1 : 1;
}

function byHeat(one, other) {
  return heatOf(other) - heatOf(one);
}

function heatOf({ quota, wanted }) {
  return quota === null ? 0 : wanted / Math.max(quota, 1e-9);
}

const COLUMNS = [
  ['Group', 'who'],
  ['Admitted and wanted against the quota', 'heat'],
  ['Admitted', 'number admitted'],
  ['Quota', 'number'],
  ['Wanted', 'number wanted'],
  ['Throttled', 'state'],
  ['Strategy', 'strategy'],
];

/** A line of the list; `show` moves it to a rank and writes what it says. */
function groupLine() {
  const link = make('a', { className: 'name' });
  const direction = make('span', { className: 'chip' });
  const { bar, update } = quotaBar();
  const cells = Object.fromEntries(
    ['admitted', 'quota', 'wanted', 'state', 'strategy'].map((name) => {
      const className = ['admitted', 'quota', 'wanted'].includes(name) ? `number ${name}` : name;
      return [name, make('span', { role: 'cell', className })];
    }),
  );
  const element = make(
    'div',
    { className: 'line', role: 'row' },
    make('span', { role: 'cell', className: 'who' }, link, direction),
    make('span', { role: 'cell', className: 'heat' }, bar),
    ...Object.values(cells),
  );
  const write = (row) => {
    say(link, row.group);
    link.title = row.group;
    link.href = groupHref(row.group, row.direction);
    say(direction, row.direction);
    say(cells.admitted, row.quota === null && row.wanted === 0 ? '–' : perSecond(row.admitted, row.dimension));
    say(cells.quota, perSecond(row.quota, row.dimension));
    say(cells.wanted, row.quota === null && row.wanted === 0 ? '–' : perSecond(row.wanted, row.dimension));
    say(cells.state, stateOf(row));
    cells.state.classList.toggle('over', (row.throttledNodes ?? 0) > 0);
    say(cells.strategy, row.strategy);
    update(row);
  };
  const show = (rank, row, height) => {
    element.hidden = rank === null;
    if (rank === null) return;
    element.style.transform = `translateY(${rank * height}px)`;
    element.dataset.rank = String(rank);
    element.setAttribute('aria-rowindex', String(rank + 2));
    element.classList.toggle('waiting', row === undefined);
    if (row !== undefined) write(row);
  };
  return { element, show };
}

function stateOf({ throttledNodes, enabled, quota }) {
  if (!enabled) return 'off';
  if (throttledNodes === null) return '';
  if (throttledNodes > 0) return throttledNodes === 1 ? '1 node' : `${throttledNodes} nodes`;
  return quota === null ? 'never' : 'nobody';
}
