import { grown } from '../../base/grown.js';

/** Lists a lane's participants in order of NodeKey. Scratch: `begin`, `list` in any order, `order`, then read. */
export class LaneMembers {
  count = 0;
  /** By alive node: its newest entry, or −1. All are −1 between two uses. */
  #last = new Int32Array(16).fill(NONE);
  /** By entry: a row; below, the earlier entry of the same node. */
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

  /** Lists the alive nodes that are not listed yet. */
  listAll(): void {
    for (let node = 0; node < this.#alive; node++) if (this.#last[node] === NONE) this.list(node, NONE);
  }

  /** Sorts the nodes: by reading all alive ones where over an eighth is listed, up to 16 by insertion. */
  order(): void {
    if (this.count * 8 > this.#alive) this.#pick();
    else if (this.count > 16) this.#nodes.subarray(0, this.count).sort();
    else this.#insert();
    for (let at = 0; at < this.count; at++) {
      const node = this.#nodes[at];
      this.#first[at] = this.#last[node]!;
      this.#last[node] = NONE;
    }
  }

  /** Returns the index among the alive nodes of a rank. */
  at(rank: number): number {
    return this.#nodes[rank];
  }

  /** Returns the newest entry of a rank; follow `nextOf` to −1. */
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
    const length = 2 * this.#rows.length;
    this.#rows = grown(this.#rows, length);
    this.#before = grown(this.#before, length);
    this.#nodes = grown(this.#nodes, length);
    this.#first = grown(this.#first, length);
  }
}

const NONE = -1;
