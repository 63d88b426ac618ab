import { epochTagOf } from '../../base/ids.js';
import type { EpochTag, NodeKey } from '../../base/vocabulary.js';
import { MEMBERSHIP_PARTITION } from '../../base/vocabulary.js';
import type { Member } from '../../usage-map/membership.js';

/**
 * Follows which log is read, and which nodes have said everything again in it.
 *
 * When the log is replaced, the nodes still hold the shares that followed from the old one. What follows from the new
 * log is wrong until all nodes have spoken in it: a node that has not spoken yet seems to want nothing. So a node keeps
 * the share that it had, or less (share/unsettled-share.ts), until all of these are true:
 *
 *   - It has read its own records back on every partition.
 *   - Every awaited node has spoken in the new log on every partition, or `stalenessMs` of this node's monotonic clock
 *     have passed. Awaited are the nodes that were alive in the old log, and those that beat in the new one but still
 *     name the old one.
 *   - Where each of so many nodes had a log of its own (`nodesApart`), so many have beaten in this one since this node
 *     has read it up to its end, or the same time has passed. They come one after the other, and no log tells who they
 *     are: the first of them would find the quota unused that the others still admit.
 *
 * Every NODE record names the epoch that its writer reads. A node that starts in a young log therefore learns within
 * one heartbeat that others have not noticed the new log yet.
 */
export class EpochWatch {
  /** The name that the topic gives to the log; null before the first log. */
  name: string | null = null;
  /** The part of the name that NODE records carry; 0 before the first log. */
  tag: EpochTag = 0;
  /** Logs that were replaced under this process. */
  changes = 0;
  /** True while shares are held because the log does not say everything yet. */
  isHolding = false;
  /** True when the held shares are those of the old log; false when this process had none. */
  keepsShares = false;
  /** True once the own records of every partition have been read back from this log. */
  isOwnRead = false;
  /** The target is divided by this many nodes at least; 0 = by as many as the log shows. */
  nodesAtLeast = 0;
  /** When this log began, local monotonic time. */
  beganMs = -Infinity;
  readonly #stalenessMs: number;
  /** So many nodes divided the targets, each in a log of its own, this one included; 0 = the old log was one of all. */
  #nodesApart = 0;
  /** True once this log has been read up to the end that it had when it began. */
  #isRead = false;
  /** Nodes that have beaten since then: beats before it may be of processes that have died. */
  readonly #here = new Set<NodeKey>();
  /** A bit for every partition. */
  readonly #everywhere: number;
  /** Nodes that have not said everything in this log. */
  readonly #awaited = new Set<NodeKey>();
  /**
   * Per node, the partitions on which it has said everything in this log, one bit each; kept while the log is young. It
   * is kept for all nodes and not only for the awaited ones: a heartbeat that waited while the topic was away names the
   * old log, lands in the new one, and may be read after new heartbeats of other partitions. Those must count already,
   * or the node would be awaited until its next beat on each of these partitions.
   */
  readonly #spoken = new Map<NodeKey, number>();

  constructor({ stalenessMs, partitions }: { readonly stalenessMs: number; readonly partitions: number }) {
    this.#stalenessMs = stalenessMs;
    this.#everywhere = 2 ** partitions - 1;
  }

  /** Nodes that have to publish before shares follow this log. */
  get awaited(): number {
    let here = 0;
    for (const nodeKey of this.#here) if (this.#spoken.get(nodeKey) === this.#everywhere) here++;
    return Math.max(this.#awaited.size, this.#nodesApart - here);
  }

  /** Called for the first log of this process. */
  begin(name: string, nowMs: number): void {
    this.name = name;
    this.tag = epochTagOf(name);
    this.beganMs = nowMs;
  }

  /**
   * Called when another log begins.
   * @param alive the members of the old log
   * @param keepsShares whether this node decides, so that it holds shares of the old log
   * @param nodesApart of how many nodes each had a log of its own before, with its part of every quota
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

  /** This log has been read up to the end that it had when it began. */
  caughtUp(): void {
    this.#isRead = true;
  }

  /** Called for every NODE record; `tag` 0 = its writer runs a version that does not name its epoch. */
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
   * Notes that the node has left a partition, or has expired: nobody waits for it any more. On other partitions it may
   * have written before that, and nodes read partitions in different orders.
   */
  left(nodeKey: NodeKey, partition: number): void {
    if (partition !== MEMBERSHIP_PARTITION) return;
    this.#awaited.delete(nodeKey);
    this.#here.delete(nodeKey);
  }

  /** Gives up the shares of the old log: this process slept, and others may have taken what it held. */
  letGo(): void {
    this.keepsShares = false;
  }

  /** Tests if all awaited nodes have spoken, or `stalenessMs` have passed. */
  isWaitOver(nowMs: number): boolean {
    return this.awaited === 0 || !this.#isYoung(nowMs);
  }

  /** Tests if the wait for an agreed pool is over: it needs the claims of the others, so it has twice their time. */
  isPoolWaitOver(nowMs: number): boolean {
    return nowMs - this.beganMs > 2 * this.#stalenessMs;
  }

  /** Stops holding shares. Returns how many of the awaited nodes have not spoken. */
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
   * Awaits a node whose heartbeat names another log: what it uses is not in this one yet. If the same id has spoken in
   * this log already, a second process of that id still reads the old log, so the id has to publish again.
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
  /** See `epoch-began`; default: 0. */
  readonly nodesApart?: number | undefined;
}
