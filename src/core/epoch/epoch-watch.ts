import { epochTagOf } from '../ids.js';
import { MEMBERSHIP_PARTITION, type Member } from '../usage-map/membership.js';
import type { EpochTag, NodeKey } from '../vocabulary.js';

/**
 * Which log is being read, and who has said everything again in it.
 *
 * When another log begins, what the one before told means nothing any more, but the nodes still hold the shares that it
 * gave them. Until everybody has spoken in the new one, what follows from it is wrong: who is not in it seems to want
 * nothing. So a node holds what it had, never more (share/unsettled-share.ts), until
 *
 *     it hears itself on every partition, and
 *     every node that was alive in the old log, or beats in the new one without having noticed that it is another,
 *     has spoken in the new one on every partition, or `stalenessMs` of the node's monotonic clock are over.
 *
 * Every NODE record names the epoch that its writer reads. So a node that starts in a young log sees that others have
 * not noticed yet, as soon as they beat: within a heartbeat.
 */
export class EpochWatch {
  /** As the topic calls it; null before the first. */
  name: string | null = null;
  /** What NODE records carry of it; 0 = nothing was told. */
  tag: EpochTag = 0;
  /** Times that another log has begun under this process. */
  changes = 0;
  /** Shares are held: the log does not say everything yet. */
  isHolding = false;
  /** What is held are shares of the log before; false where this process had none. */
  keepsShares = false;
  /** The own records of every partition have been read back since the epoch began. */
  isOwnRead = false;
  /** As many nodes share the target at least; 0 = as many as the log says. */
  nodesAtLeast = 0;
  beganMs = Number.NEGATIVE_INFINITY;
  readonly #stalenessMs: number;
  readonly #everywhere: number;
  /** Nodes that have not said everything in this log. */
  readonly #awaited = new Set<NodeKey>();
  /**
   * Partitions on which each node has said everything in this log, one bit each, while it is young. Of all nodes: a
   * heartbeat that waited while the topic was away is written into the new log, and may be read behind the new ones on
   * other partitions. What was heard there by then must count, or it is heard again only with the next beat.
   */
  readonly #spoken = new Map<NodeKey, number>();

  constructor({ stalenessMs, partitions }: { readonly stalenessMs: number; readonly partitions: number }) {
    this.#stalenessMs = stalenessMs;
    this.#everywhere = 2 ** partitions - 1;
  }

  get awaited(): number {
    return this.#awaited.size;
  }

  /** The first log of this process. */
  begin(name: string, nowMs: number): void {
    this.name = name;
    this.tag = epochTagOf(name);
    this.beganMs = nowMs;
  }

  /**
   * Another log.
   * @param alive the members of the one before
   * @param keepsShares whether this node decides, so that it holds shares of the one before
   */
  change(name: string, { alive, own, keepsShares }: BeforeChange, nowMs: number): void {
    const awaits = alive.filter(({ nodeKey }) => nodeKey !== own);
    for (const { nodeKey } of awaits) this.#awaited.add(nodeKey);
    this.#spoken.clear();
    this.nodesAtLeast = Math.max(this.nodesAtLeast, awaits.length + 1);
    this.keepsShares = keepsShares;
    this.isHolding = true;
    this.isOwnRead = false;
    this.changes++;
    this.begin(name, nowMs);
  }

  /** A NODE record; `tag` 0 = its writer is of a version that does not say. */
  heard(nodeKey: NodeKey, partition: number, tag: EpochTag, nowMs: number): void {
    if (tag !== 0 && this.tag !== 0 && tag !== this.tag) {
      if (partition === MEMBERSHIP_PARTITION && this.#isYoung(nowMs)) this.#expect(nodeKey);
      return;
    }
    if (!this.#isYoung(nowMs)) {
      this.#spoken.clear();
      return;
    }
    const spoken = (this.#spoken.get(nodeKey) ?? 0) | (1 << partition);
    this.#spoken.set(nodeKey, spoken);
    if (spoken === this.#everywhere) this.#awaited.delete(nodeKey);
  }

  /** It says nothing any more. */
  left(nodeKey: NodeKey): void {
    this.#awaited.delete(nodeKey);
  }

  /** The process slept: others may have taken what it held. */
  letGo(): void {
    this.keepsShares = false;
  }

  /** Whether everybody has spoken, or has had the time to. */
  hasHeardAll(nowMs: number): boolean {
    return this.#awaited.size === 0 || !this.#isYoung(nowMs);
  }

  /** Twice the time that the others have: an agreed pool needs theirs. */
  isOverdue(nowMs: number): boolean {
    return nowMs - this.beganMs > 2 * this.#stalenessMs;
  }

  /** Returns how many have not been heard. */
  settle(): number {
    const missing = this.#awaited.size;
    this.#awaited.clear();
    this.isHolding = false;
    this.nodesAtLeast = 0;
    return missing;
  }

  #isYoung(nowMs: number): boolean {
    return nowMs - this.beganMs <= this.#stalenessMs;
  }

  /**
   * Its writer reads another log, so what it uses is not in this one. Where the id has spoken on this partition,
   * another process of it goes on in the old log.
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
}
