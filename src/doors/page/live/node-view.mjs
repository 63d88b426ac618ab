import { make, say } from '../browser/elements.mjs';
import { largest, rate } from '../browser/figures.mjs';
import { askJson } from './ask.mjs';
import { addChart, card, rowName, scrolled, split, tableOf } from './blocks.mjs';
import { keyLookup } from './key-lookup.mjs';
import { tiles } from './tiles.mjs';
import { duration } from './wording.mjs';

/** Shows the page's node, and the cluster's members as it sees them. */
export class NodeView {
  constructor(host, { look }) {
    Object.assign(this, { host, look, ago: 0, charts: [] });
    this.#build();
    void this.#remember();
  }

  get query() {
    return new URLSearchParams();
  }

  take(event, said) {
    if (event !== 'node') return;
    this.node = said;
    this.#show();
    this.#grow(said);
  }

  at(ago) {
    this.ago = ago;
    this.#show();
    if (this.past !== undefined) this.#showTime();
  }

  paint(look) {
    this.look = look;
    void this.#remember();
  }

  end() {
    for (const chart of this.charts) chart.end();
  }

  #build() {
    this.title = make('h1', { className: 'name', text: 'Node' });
    this.facts = make('p', { className: 'facts' });
    const figures = make('div', { className: 'tiles' });
    this.reasons = make('div', { role: 'status' });
    this.chartsHost = make('div', { className: 'charts' });
    this.members = make('tbody');
    this.keys = make('div', { className: 'keys' });
    const members = tableOf(['Member', 'State', 'Last read', 'Life', 'Version'], this.members, 'nodes');
    this.membersNow = make('p', { className: 'hint', role: 'status' });
    this.host.replaceChildren(
      this.title,
      this.facts,
      figures,
      this.reasons,
      split(
        this.chartsHost,
        card('Members', this.membersNow, scrolled('Members', members)),
        card('Keys', this.keys, keyLookup()),
      ),
    );
    this.writeTiles = tiles(figures, [
      ['State', 'Deciding about requests, or not'],
      ['Members alive', 'As this node sees them'],
      ['Round trip', 'From a report to reading it back'],
      ['Topic lag', 'Age of the newest own record that was read back'],
      ['Last rebalancing', 'From the first share that moved to the last'],
    ]);
  }

  #show() {
    const { node } = this;
    if (node === undefined) return;
    say(this.title, node.nodeId);
    say(
      this.facts,
      `cluster ${node.cluster} · topic ${node.topic.kind}, ${node.topic.partitions === 1 ? '1 partition' : `${node.topic.partitions} partitions`} · version ${node.version} · up for ${duration(node.uptimeMs)}`,
    );
    this.writeTiles(this.ago === 0 ? tilesNow(node) : this.#tilesThen());
    say(this.membersNow, this.ago === 0 ? '' : 'as they are now');
    const reasons = [...node.notReadyBecause, ...node.degraded];
    const said = reasons.join('\n');
    const list = make('ul', { className: 'reasons' }, ...reasons.map((text) => make('li', { text })));
    if (said !== this.said) this.reasons.replaceChildren(...(reasons.length === 0 ? [] : [list]));
    this.said = said;
    this.#showMembers(node.members);
    this.#showKeys(node.keys);
  }

  #tilesThen() {
    const { times, node } = this.past ?? { times: [], node: {} };
    const at = times.findLastIndex((time) => time <= times.at(-1) - this.ago);
    const then = (name, text) => [at === -1 || node[name][at] === null ? '–' : text(node[name][at])];
    return [
      ['–', 'not remembered'],
      then('members', String),
      then('reportRoundTripMs', duration),
      then('topicLagMs', duration),
      ['–', 'not remembered'],
    ];
  }

  #showMembers(members) {
    this.members.replaceChildren(
      ...members.map(({ nodeId, state, self, silentMs, incarnation, version }) =>
        make(
          'tr',
          { className: state === 'alive' ? '' : 'gone' },
          rowName(self ? 'this node' : '', nodeId),
          make('td', { className: `state-${state}`, text: state }),
          make('td', { text: self ? '' : duration(silentMs) }),
          make('td', { text: String(incarnation) }),
          make('td', { text: version }),
        ),
      ),
    );
  }

  #showKeys(templates) {
    const texts = templates.map(
      ({ template, live, loud, refused }) =>
        `${template}: ${rate(live)} live, ${rate(loud)} loud, ${rate(refused)} refused for want of room`,
    );
    const said = texts.join('\n') || 'This node has no templates of keys.';
    if (said === this.keysSaid) return;
    this.keysSaid = said;
    this.keys.replaceChildren(...said.split('\n').map((text) => make('p', { className: 'name', text })));
  }

  async #remember() {
    const history = await askJson('/v1/live/history').catch(() => null);
    if (history === null || !this.host.isConnected) return;
    const { seconds, endedMs, node } = history;
    if (seconds < 2) return;
    const times = Array.from({ length: seconds }, (_, at) => Math.round(endedMs / 1000) - seconds + 1 + at);
    this.past = { times, node };
    this.end();
    this.chartsHost.replaceChildren();
    this.charts = CHARTS.map(([name, title]) => this.#chart(name, title));
    this.#showTime();
  }

  #chart(name, title) {
    const { times, node } = this.past;
    return addChart(this.chartsHost, {
      title,
      height: 150,
      columns: [times, node[name]],
      series: [{ stroke: this.look.colour('side-a'), width: 1.5, spanGaps: true }],
      top: topOf(node[name]),
      look: this.look,
      onTime: () => undefined,
    });
  }

  /** The charts go on by what is pushed. */
  #grow({ atMs, members, reportRoundTripMs, topicLagMs }) {
    if (this.past === undefined) return;
    const { times, node } = this.past;
    const at = Math.round(atMs / 1000);
    if (at <= times.at(-1)) return;
    times.push(at);
    node.members.push(members.filter(({ state }) => state === 'alive').length);
    node.reportRoundTripMs.push(reportRoundTripMs);
    node.topicLagMs.push(topicLagMs);
    if (times.length > SECONDS_SHOWN) for (const column of [times, ...Object.values(node)]) column.shift();
    CHARTS.forEach(([name], index) => {
      this.charts[index].show([times, node[name]], 0, topOf(node[name]));
    });
    this.#showTime();
  }

  #showTime() {
    for (const chart of this.charts) chart.showTime(this.past.times.at(-1) - this.ago);
  }
}

function tilesNow(node) {
  const alive = node.members.filter(({ state }) => state === 'alive').length;
  const isWell = node.ready && node.degraded.length === 0;
  return [
    [node.ready ? (isWell ? 'ready' : 'ready, degraded') : node.phase, '', isWell ? 'good' : 'over'],
    [String(alive), `of ${node.members.length} known`],
    [duration(node.reportRoundTripMs), 'from a report to reading it'],
    [duration(node.topicLagMs), node.topic.pendingAppends > 0 ? `${node.topic.pendingAppends} appends wait` : ''],
    [duration(node.lastRebalancingMs), 'first share moved to last'],
  ];
}

const SECONDS_SHOWN = 900;

function topOf(column) {
  return largest([column]) * 1.1 || 1;
}

const CHARTS = [
  ['members', 'Members alive'],
  ['reportRoundTripMs', 'Round trip of a report, ms'],
  ['topicLagMs', 'Topic lag, ms'],
];
