import { epochTagOf } from '../../base/ids.js';
import { type EpochTag, MEMBERSHIP_PARTITION, type NodeKey } from '../../base/vocabulary.js';
import type { Member } from '../../usage-map/membership.js';

/**
 * Tracks the log, and the nodes that have published in it.
 *
 * When the log is replaced, the nodes still hold the shares that followed from the old one. Shares by the new log are
 * wrong until all nodes have published in it: a node that has not seems to want nothing. So a node keeps its share, or
 * less (share/unsettled-share.ts), until all of these are true:
 *
 *   - It has read its own records back on every partition.
 *   - Every awaited node has published in the new log on every partition, or `stalenessMs` of this node's monotonic
 *     clock have passed. Awaited are the nodes that were alive in the old log, and those whose beats in the new log
 *     still name the old one.
 *   - Where several nodes had a log each (`nodesApart`), that number of nodes has beaten in this log since this node
 *     read it to its end, or the same time has passed. No log names these nodes: without the wait, the first of them
 *     would find a quota unused that the others still admit.
 *
 * Every NODE record names the epoch that its writer reads. A node that starts in a young log therefore learns within
 * one heartbeat that others have not noticed the new log yet.
 */
export class EpochWatch {
  /** Name that the topic gives to the log; null before the first log. */
  name: string | null = null;
  /** Part of the name that NODE records carry; 0 before the first log. */
  tag: EpochTag = 0;
  /** Number of logs that were replaced under this process. */
  changes = 0;
  /** True while shares are held because the log is incomplete. */
  isHolding = false;
  /** True = the held shares are those of the old log; false = none are kept. */
  keepsShares = false;
  /** True once the own records on every partition were read back. */
  isOwnRead = false;
  /** Least number of nodes by which targets are divided; 0 = the log decides. */
  nodesAtLeast = 0;
  /** Local monotonic time at which this log began. */
  beganMs = -Infinity;
  readonly #stalenessMs: number;
  /** Nodes, this one included, that had a log each until now; 0 = all shared one log. */
  #nodesApart = 0;
  /** True once the log's content at the switch has been read. */
  #isRead = false;
  /** Nodes that have beaten since then; earlier beats may come from dead processes. */
  readonly #here = new Set<NodeKey>();
  /** A bit for every partition. */
  readonly #everywhere: number;
  /** Awaited nodes without a record on every partition of this log. */
  readonly #awaited = new Set<NodeKey>();
  /**
   * Per node, a bit for each partition that has its record; kept while the log is young. Nodes that are not awaited
   * have an entry, too: a heartbeat that waited while the topic was away names the old log, lands in the new one, and
   * may be read after new heartbeats of other partitions. Those must count already, or the node would be awaited until
   * its next beat on each of these partitions.
   */
  readonly #spoken = new Map<NodeKey, number>();

  constructor({ stalenessMs, partitions }: { readonly stalenessMs: number; readonly partitions: number }) {
    this.#stalenessMs = stalenessMs;
    this.#everywhere = 2 ** partitions - 1;
  }

  /** Counts the nodes that must publish before shares follow this log. */
  get awaited(): number {
    let here = 0;
    for (const nodeKey of this.#here) if (this.#spoken.get(nodeKey) === this.#everywhere) here++;
    return Math.max(this.#awaited.size, this.#nodesApart - here);
  }

  /** Begins the first log of this process. */
  begin(name: string, nowMs: number): void {
    this.name = name;
    this.tag = epochTagOf(name);
    this.beganMs = nowMs;
  }

  /**
   * Replaces the log by another one.
   * @param alive the members of the old log
   * @param keepsShares true = this node decides, so it holds shares of the old log
   * @param nodesApart number of nodes that had a log each before, with a part of every quota
   */
  change(name: string, { alive, own, keepsShares, nodesApart = 0 }: BeforeChange, nowMs: number): void {
    const awaits = alive.filter(({ nodeKey }) => nodeKey !== own);
    for (const { nodeKey } of awaits) this.#awaited.add(nodeKey);
    this.#spoken.clear();
    this.#here.clear();
    this.#isRead = false;
    this.#nodesApart = Math.max(this.#nodesApart, nodesApart);
    this.nodesAtLeast = Math.max(this.nodesAtLeast, awaits.length + 1, nodesApart);
    this.keepsShares = keepsShares;
    this.isHolding = true;
    this.isOwnRead = false;
    this.changes++;
    this.begin(name, nowMs);
  }

  /** Notes that the log's content at the switch has been read. */
  caughtUp(): void {
    this.#isRead = true;
  }

  /** Notes a NODE record; `tag` 0 = the writer's version does not name its epoch. */
  heard(nodeKey: NodeKey, partition: number, tag: EpochTag, nowMs: number): void {
    const isElsewhere = tag !== 0 && this.tag !== 0 && tag !== this.tag;
    if (isElsewhere) {
      if (partition === MEMBERSHIP_PARTITION && this.#isYoung(nowMs)) this.#expect(nodeKey);
      return;
    }
    if (!this.#isYoung(nowMs)) {
      // Emptying an empty map allocates a table, and every beat of an old log comes here.
      if (this.#spoken.size > 0) this.#spoken.clear();
      return;
    }
    const spoken = (this.#spoken.get(nodeKey) ?? 0) | (1 << partition);
    this.#spoken.set(nodeKey, spoken);
    if (this.#isRead && partition === MEMBERSHIP_PARTITION) this.#here.add(nodeKey);
    if (spoken === this.#everywhere) this.#awaited.delete(nodeKey);
  }

  /**
   * Ends the wait for a node that has left or expired. Only the membership partition counts: nodes read partitions in
   * different orders, and the node may have written on others before.
   */
  left(nodeKey: NodeKey, partition: number): void {
    if (partition !== MEMBERSHIP_PARTITION) return;
    this.#awaited.delete(nodeKey);
    this.#here.delete(nodeKey);
  }

  /** Gives up the shares of the old log. This process slept, so others may have taken them. */
  letGo(): void {
    this.keepsShares = false;
  }

  /** Tests if all awaited nodes have published, or `stalenessMs` have passed. */
  isWaitOver(nowMs: number): boolean {
    return this.awaited === 0 || !this.#isYoung(nowMs);
  }

  /** Tests if the wait for an agreed pool is over. It takes twice as long, because the others must claim first. */
  isPoolWaitOver(nowMs: number): boolean {
    return nowMs - this.beganMs > 2 * this.#stalenessMs;
  }

  /** Stops holding shares. Returns the number of awaited nodes that have not published. */
  settle(): number {
    const missing = this.awaited;
    this.#awaited.clear();
    this.#here.clear();
    this.#nodesApart = 0;
    this.isHolding = false;
    this.nodesAtLeast = 0;
    return missing;
  }

  #isYoung(nowMs: number): boolean {
    return nowMs - this.beganMs <= this.#stalenessMs;
  }

  /**
   * Awaits a node whose heartbeat names another log: its use is missing in this one. If the same id has published here
   * already, a second process of that id still reads the old log, so the id has to publish again.
   */
  #expect(nodeKey: NodeKey): void {
    const spoken = this.#spoken.get(nodeKey) ?? 0;
    if ((spoken & (1 << MEMBERSHIP_PARTITION)) !== 0) this.#spoken.delete(nodeKey);
    this.#awaited.add(nodeKey);
    this.isHolding = true;
  }
}

export interface BeforeChange {
  readonly alive: readonly Member[];
  readonly own: NodeKey;
  readonly keepsShares: boolean;
  readonly nodesApart?: number | undefined;
}
