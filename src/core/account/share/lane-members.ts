/**
 * Lists the nodes that take part in a lane by themselves, and their rows, in order of NodeKey. Scratch: `begin`, `list`
 * in any order, `order`, then read.
 */
export class LaneMembers {
  /** Nodes that are listed. */
  count = 0;
  /** By alive node: the entry that was listed last for it, or −1. All are −1 between two uses. */
  #last = new Int32Array(16).fill(NONE);
  /** By entry: a row, and the entry of the same node that was listed before it. */
  #rows = new Int32Array(16);
  #before = new Int32Array(16);
  /** Indexes of the listed nodes. */
  #nodes = new Int32Array(16);
  #first = new Int32Array(16);
  #entries = 0;
  #alive = 0;

  begin(alive: number): void {
    this.count = 0;
    this.#entries = 0;
    this.#alive = alive;
    if (this.#last.length < alive) this.#last = new Int32Array(2 * alive).fill(NONE);
  }

  /** @param row −1 = the node has none */
  list(node: number, row: number): void {
    const entry = this.#entries++;
    if (entry === this.#rows.length) this.#grow();
    const before = this.#last[node];
    if (before === NONE) this.#nodes[this.count++] = node;
    this.#rows[entry] = row;
    this.#before[entry] = before;
    this.#last[node] = entry;
  }

  /** Lists those of the alive nodes that are not listed yet. */
  listAll(): void {
    for (let node = 0; node < this.#alive; node++) if (this.#last[node] === NONE) this.list(node, NONE);
  }

  /** Puts the nodes in order: by looking at all where most are listed, else by sorting. */
  order(): void {
    if (this.count * SORTED_PER_NODE > this.#alive) this.#pick();
    else if (this.count > SORTED_BY_HAND) this.#nodes.subarray(0, this.count).sort();
    else this.#insert();
    for (let at = 0; at < this.count; at++) {
      const node = this.#nodes[at];
      this.#first[at] = this.#last[node]!;
      this.#last[node] = NONE;
    }
  }

  /** Index among the alive nodes of the listed one with this rank. */
  at(rank: number): number {
    return this.#nodes[rank];
  }

  /** The newest entry of the node with this rank; follow `nextOf` to −1. */
  firstOf(rank: number): number {
    return this.#first[rank];
  }

  nextOf(entry: number): number {
    return this.#before[entry];
  }

  rowOf(entry: number): number {
    return this.#rows[entry];
  }

  #pick(): void {
    let at = 0;
    for (let node = 0; node < this.#alive; node++) if (this.#last[node] !== NONE) this.#nodes[at++] = node;
  }

  #insert(): void {
    for (let from = 1; from < this.count; from++) {
      const node = this.#nodes[from];
      let at = from;
      for (; at > 0 && this.#nodes[at - 1] > node; at--) this.#nodes[at] = this.#nodes[at - 1]!;
      this.#nodes[at] = node;
    }
  }

  #grow(): void {
    this.#rows = larger(this.#rows);
    this.#before = larger(this.#before);
    this.#nodes = larger(this.#nodes);
    this.#first = larger(this.#first);
  }
}

const NONE = -1;
/** Alive nodes per listed one up to which looking at all of them is faster than sorting. */
const SORTED_PER_NODE = 8;
/** Nodes up to which a sort by insertion is faster than the built-in one. */
const SORTED_BY_HAND = 16;

function larger(column: Int32Array): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(2 * column.length);
  grown.set(column);
  return grown;
}
