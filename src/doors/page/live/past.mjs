const SECONDS = 900;
/** Eyes tell no more lines apart: eleven nodes, and all others. */
const NAMED_NODES = 11;
const FIGURES = ['quota', 'target', 'admitted', 'wanted', 'tokens', 'refused'];

/** The last 15 minutes of one direction of a group: what the node remembered, and then what it pushed. */
export class Past {
  constructor() {
    this.times = [];
    this.columns = Object.fromEntries(FIGURES.map((name) => [name, []]));
    /** Node id → shares; '' = the sum of all others. */
    this.nodes = new Map();
    /** Count and second: of the newest push, and of the newest one of an earlier second. */
    this.refusals = { before: null, last: null };
  }

  /** @param history what GET /v1/live/history says of the group; seconds at which nobody looked are left out */
  remember({ endedMs, seconds, group }) {
    if (group === null) return;
    const first = Math.round(endedMs / 1000) - seconds + 1;
    for (let at = 0; at < seconds; at++) {
      if (group.wanted[at] === null) continue;
      this.times.push(first + at);
      for (const name of FIGURES) this.columns[name].push(group[name][at]);
      const shares = new Map(group.nodes.map(({ nodeId, share }) => [nodeId ?? '', share[at]]));
      this.#addShares(shares);
    }
  }

  /** Replaces a second and all later ones by the newest figures. @param status a direction of a `group` event */
  add(atMs, status, dimension) {
    const at = Math.round(atMs / 1000);
    const same = this.times.findIndex((time) => time >= at);
    if (same !== -1) this.#takeOut(same, Infinity);
    const key = `${dimension}PerSecond`;
    const refused = status.local[dimension === 'bytes' ? 'refusedBytes' : 'refusedMessages'];
    const sum = (column) => status.nodes.reduce((total, node) => total + (node[column][key] ?? 0), 0);
    const { last } = this.refusals;
    if (last !== null && last.at !== at) this.refusals.before = last.at < at ? last : null;
    this.refusals.last = { refused, at };
    const { before } = this.refusals;
    const figures = {
      quota: status.quota[key],
      target: status.target[key],
      admitted: sum('usage'),
      wanted: sum('demand'),
      tokens: status.clusterBucket?.[dimension]?.tokens ?? null,
      refused: before === null ? null : Math.max(0, refused - before.refused) / (at - before.at),
    };
    this.times.push(at);
    for (const name of FIGURES) this.columns[name].push(figures[name]);
    this.#addShares(this.#named(status.nodes, key));
    this.#forget();
  }

  /** Index of the last second that is not after `seconds` ago; −1 = there is none. */
  indexAgo(ago) {
    const wanted = (this.times.at(-1) ?? 0) - ago;
    return this.times.findLastIndex((time) => time <= wanted);
  }

  /** Keeps lines that nodes have; gives others one while there are some left. */
  #named(nodes, key) {
    const named = new Map();
    const wanting = [...nodes].sort((one, other) => (other.share[key] ?? 0) - (one.share[key] ?? 0));
    let free = NAMED_NODES - [...this.nodes.keys()].filter((nodeId) => nodeId !== '').length;
    for (const { nodeId, share } of wanting) {
      const isNamed = this.nodes.has(nodeId) || free-- > 0;
      const name = isNamed ? nodeId : '';
      named.set(name, (named.get(name) ?? 0) + (share[key] ?? 0));
    }
    return named;
  }

  #addShares(shares) {
    const length = this.times.length - 1;
    for (const nodeId of shares.keys()) {
      if (!this.nodes.has(nodeId)) this.nodes.set(nodeId, Array(length).fill(null));
    }
    for (const [nodeId, column] of this.nodes) column.push(shares.get(nodeId) ?? null);
  }

  #forget() {
    const over = this.times.findIndex((time) => time > this.times.at(-1) - SECONDS);
    if (over >= 60) this.#takeOut(0, over);
  }

  #takeOut(from, count) {
    for (const column of [this.times, ...Object.values(this.columns), ...this.nodes.values()])
      column.splice(from, count);
  }
}
