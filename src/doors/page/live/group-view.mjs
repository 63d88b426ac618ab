import { make, say } from '../browser/elements.mjs';
import { rate } from '../browser/figures.mjs';
import { groupHref, whyHref } from './addresses.mjs';
import { askJson } from './ask.mjs';
import { card, rowName, scrolled, split, tableOf } from './blocks.mjs';
import { BudgetCard } from './budget-card.mjs';
import { GroupCharts } from './group-charts.mjs';
import { LastChanges } from './last-changes.mjs';
import { Past } from './past.mjs';
import { tiles } from './tiles.mjs';
import { WhatIf } from './what-if.mjs';
import { clockTime, duration, exceeds, perSecond, sourceText } from './wording.mjs';

/** One direction of a group: its shares as they move, its nodes, its last changes, and what if. */
export class GroupView {
  constructor(host, { group, direction, look, goTo, canChange }) {
    Object.assign(this, { host, group, direction, look, canChange, ago: 0, past: new Past() });
    this.#build();
    this.charts = new GroupCharts(this.chartsHost, {
      onTime: (seconds) => goTo((this.past.times.at(-1) ?? 0) - seconds),
    });
    void this.#remember();
  }

  get query() {
    return new URLSearchParams({ group: this.group });
  }

  take(event, said, atMs) {
    if (event !== 'group' || said.group !== this.group) return;
    const status = said.directions[this.direction];
    if (this.dimension === undefined) this.#begin(status);
    Object.assign(this, { status, atMs });
    this.trial.follow(status);
    this.past.add(atMs, status, this.dimension);
    const facts = [said.strategy, sourceText(said)];
    if (!said.enabled) facts.push('switched off');
    if (said.mode === 'shadow') facts.push('shadow: decides, and refuses nothing');
    say(this.facts, facts.join(' · '));
    this.#showShadow(said.shadow);
    this.budgetCard.hidden = said.budget === null;
    if (said.budget !== null) this.budget.follow(said.budget);
    void this.changes.follow(said);
    if (this.ago === 0) this.#show();
  }

  at(ago) {
    this.ago = ago;
    this.#show();
  }

  paint(look) {
    this.look = look;
    this.#show();
  }

  end() {
    this.charts.end();
  }

  #build() {
    const other = this.direction === 'publish' ? 'dispatch' : 'publish';
    const tab = (direction) =>
      make('a', {
        href: groupHref(this.group, direction),
        text: direction,
        'aria-current': direction === this.direction ? 'page' : null,
      });
    this.facts = make('p', { className: 'facts' });
    const figures = make('div', { className: 'tiles' });
    this.chartsHost = make('div', { className: 'charts' });
    this.nodes = make('tbody');
    const table = tableOf(['Node', 'Share', 'Admitted', 'Wanted', 'Report age'], this.nodes, 'nodes');
    const changes = make('div');
    this.changes = new LastChanges(changes, this.group);
    this.whatIf = make('div', {}, make('p', { className: 'hint', text: 'loading' }));
    this.shadow = make('div', { className: 'tiles' });
    this.writeShadow = shadowTiles(this.shadow);
    this.shadowCard = card('Shadow', this.shadow);
    this.shadowCard.hidden = true;
    const budget = make('div');
    this.budget = new BudgetCard(budget, this.group);
    this.budgetCard = card('Budget', budget);
    this.budgetCard.hidden = true;
    this.host.replaceChildren(
      make(
        'div',
        { className: 'title-line' },
        make('h1', { className: 'name', text: this.group }),
        make('span', { className: 'tabs' }, tab(this.direction), tab(other)),
      ),
      this.facts,
      figures,
      split(
        this.chartsHost,
        card('Nodes', scrolled('Nodes', table)),
        this.budgetCard,
        card('What if', this.whatIf),
        card('Last changes', changes),
        this.shadowCard,
        make('p', {}, make('a', { href: whyHref(this.group, this.direction), text: WHY })),
      ),
    );
    this.writeTiles = groupTiles(figures);
  }

  /** Shows what the shadow would have done; the last two figures are of this node, since it began. */
  #showShadow(shadow) {
    this.shadowCard.hidden = shadow === null;
    if (shadow === null || this.dimension === undefined) return;
    const { quota, usage, demand, wouldRefuse, wouldGrant } = shadow.directions[this.direction];
    const key = `${this.dimension}PerSecond`;
    const would = ({ requests }) => [rate(requests), requests === 1 ? 'request' : 'requests'];
    this.writeShadow([
      [perSecond(quota[key], this.dimension), shadow.kind === 'group' ? 'not enforced' : 'planned'],
      [perSecond(usage[key], this.dimension), `of ${perSecond(demand[key], this.dimension)} asked for`],
      [...would(wouldRefuse), wouldRefuse.requests > 0 ? 'over' : ''],
      would(wouldGrant),
    ]);
  }

  #begin(status) {
    const { messagesPerSecond, bytesPerSecond } = status.quota;
    this.dimension = messagesPerSecond === null && bytesPerSecond !== null ? 'bytes' : 'messages';
    const { group, direction, dimension, canChange } = this;
    this.trial = new WhatIf(this.whatIf, { group, direction, dimension, canChange });
  }

  async #remember() {
    const query = new URLSearchParams({ group: this.group, direction: this.direction });
    const history = await askJson(`/v1/live/history?${query}`).catch(() => null);
    if (history === null) return;
    const pushed = this.past;
    const known = new Past();
    known.remember(history);
    // Pushed meanwhile: at most a few seconds, which the node remembers, too, but for the newest.
    if (known.times.length > pushed.times.length) {
      known.refusals = pushed.refusals;
      this.past = known;
      if (this.status !== undefined) known.add(this.atMs, this.status, this.dimension);
    }
  }

  #show() {
    const { past, dimension } = this;
    if (past.times.length === 0 || dimension === undefined) return;
    this.charts.draw(past, this.look);
    const at = past.indexAgo(this.ago);
    if (at === -1) {
      this.writeTiles(Array(5).fill(['–', 'not remembered']));
      this.#writeNodes([]);
      return;
    }
    const { quota, admitted, wanted, refused, tokens } = Object.fromEntries(
      Object.entries(past.columns).map(([name, column]) => [name, column[at]]),
    );
    const isOver = exceeds(wanted, quota);
    const depth = this.status?.clusterBucket?.[dimension]?.depth;
    const isUsed = this.status?.local.served !== false;
    this.writeTiles([
      [perSecond(quota, dimension)],
      [perSecond(admitted, dimension), quota ? `${Math.round((100 * admitted) / quota)} % of the quota` : ''],
      [perSecond(wanted, dimension), isOver ? `${(wanted / quota).toFixed(1)} quotas` : '', isOver ? 'over' : ''],
      [refused === null ? '–' : perSecond(refused, dimension)],
      [
        tokens === null ? (isUsed ? 'rates' : '–') : rate(tokens),
        tokens === null ? (isUsed ? 'shares are rates' : 'not used at this node') : `of ${rate(depth)} tokens`,
        tokens < 0 ? 'over' : '',
      ],
    ]);
    this.charts.showTime(past.times[at]);
    if (this.ago === 0) this.#showNodes();
    else this.#showNodesThen(at);
  }

  #showNodes() {
    const key = `${this.dimension}PerSecond`;
    const rows = [...this.status.nodes].sort((one, other) => (other.share[key] ?? 0) - (one.share[key] ?? 0));
    this.#writeNodes(
      rows.map(({ nodeId, self, share, usage, demand, reportAgeMs }) => ({
        nodeId,
        note: self ? 'this node' : '',
        isOver: exceeds(demand[key] ?? 0, share[key]),
        texts: [share[key], usage[key], demand[key]]
          .map((value) => perSecond(value, this.dimension))
          .concat(reportAgeMs === null ? 'none' : duration(reportAgeMs)),
      })),
    );
  }

  #showNodesThen(at) {
    const rows = [...this.past.nodes].filter(([, column]) => column[at] !== null);
    this.#writeNodes(
      rows.map(([nodeId, column]) => ({
        nodeId: nodeId === '' ? 'all others' : nodeId,
        note: '',
        isOver: false,
        texts: [perSecond(column[at], this.dimension), '', '', clockTime(this.past.times[at])],
      })),
    );
  }

  #writeNodes(rows) {
    const names = [...this.past.nodes.keys()].filter((nodeId) => nodeId !== '');
    this.nodes.replaceChildren(
      ...rows.map(({ nodeId, note, isOver, texts }) => {
        const swatch = make('span', { className: 'swatch' });
        const index = names.indexOf(nodeId);
        swatch.style.background = index === -1 ? this.look.colour('rest') : this.look.colour(`node-${index}`);
        const cells = texts.map((text) => make('td', { text }));
        return make('tr', { className: isOver ? 'over' : '' }, rowName(note, swatch, nodeId), ...cells);
      }),
    );
  }
}

const WHY = 'Why is a request of this group refused?';

function groupTiles(host) {
  return tiles(host, [
    ['Quota', 'Limit of the whole cluster'],
    ['Admitted', 'By all nodes, as last published'],
    ['Wanted', 'By all nodes, as last published'],
    ['Refused here', 'By this node'],
    ['Bucket', 'Tokens in the bucket of the cluster'],
  ]);
}

function shadowTiles(host) {
  return tiles(host, [
    ['Shadow quota', 'Planned limit of the whole cluster'],
    ['Would admit', 'By all nodes, as last published'],
    ['Would refuse', 'Granted by this node, and the shadow would have refused it'],
    ['Would grant', 'Refused by this node, and the shadow would have granted it'],
  ]);
}
