import type { LaneTable } from '../account/lanes/lane-table.js';
import type { LinkWatch } from '../account/lanes/link-watch.js';
import type { EpochBegan, Notice, Phase } from '../base/protocol/events-and-effects.js';
import type { Author, TopicRecord } from '../base/protocol/record.js';
import { MEMBERSHIP_PARTITION, type NodeKey } from '../base/vocabulary.js';
import type { LogReader } from '../log/reading/log-reader.js';
import type { Publisher } from '../report/publisher.js';
import { createRampTurn } from '../target/ramp/ramp-turn.js';

export interface EpochChangeParts {
  readonly nodeKey: NodeKey;
  readonly log: LogReader;
  readonly link: LinkWatch;
  readonly table: LaneTable;
  readonly publisher: Publisher;
  readonly notices: Notice[];
}

/**
 * Replaces the log that a node follows by another one. The node forgets the content of the old log, publishes all its
 * records again, and holds its shares until the other nodes have done the same (epoch-watch.ts).
 *
 * The node keeps its life. A process that starts in the new log takes a life above the highest one of its id there. Of
 * two processes with one id, the one with the higher life goes on.
 */
export class EpochChange {
  /**
   * True until the new log's content at the switch is read. A newer life of this id in that part may belong to a
   * process that died long ago: a log that lost its end has lost the end of that life, too.
   */
  isRereading = false;
  /** True = this process took part in another log before. Others may have the same count of partitions. */
  hasLeftALog = false;
  readonly #parts: EpochChangeParts;

  constructor(parts: EpochChangeParts) {
    this.#parts = parts;
  }

  /** Begins to follow another log, from its start. */
  begin({ epoch: name, nodesApart }: EpochBegan, phase: Phase, nowMs: number): void {
    const { nodeKey: own, log, link, table, publisher, notices } = this.#parts;
    const { epochs, membership } = log;
    if (epochs.name === null) {
      epochs.begin(name, nowMs);
      return;
    }
    notices.push({ kind: 'epoch-changed', from: epochs.name, to: name, members: membership.alive.length });
    epochs.change(name, { alive: membership.alive, own, keepsShares: phase === 'ready', nodesApart }, nowMs);
    log.forgetAll();
    for (const { rampTurn } of table.lanes.values()) Object.assign(rampTurn, createRampTurn());
    table.markAll();
    if (phase === 'catching-up' || phase === 'stopping' || phase === 'fenced') return;
    this.hasLeftALog = true;
    this.isRereading = true;
    link.expectedSinceMs = nowMs;
    publisher.sayEverything(table.lanes, nowMs);
  }

  /**
   * Ends the first reading of the new log. If the log holds a newer life of this id, this process takes a life above
   * that one. The other process, if it still runs, reads the higher life and is fenced. Without a higher life to take,
   * the next record of the other process fences this one.
   */
  caughtUp(nowMs: number): void {
    if (!this.isRereading) return;
    this.isRereading = false;
    this.#parts.log.epochs.caughtUp();
    this.#takeNewestLife(nowMs);
  }

  /**
   * Tests if a newer life's record proves another process of this id. A record that is delivered again after its key
   * was buried proves nothing: its life is no longer in the log. A farewell proves that the other process has ended
   * (see `outlive`).
   */
  isSupersededBy({ kind, author }: TopicRecord): boolean {
    return kind !== 'farewell' && this.#isNewLife(author);
  }

  /** Takes a life above a newer one that has said farewell. */
  outlive({ kind, author }: TopicRecord, nowMs: number): void {
    if (kind === 'farewell' && this.#isNewLife(author)) this.#takeNewestLife(nowMs);
  }

  #isNewLife({ incarnation }: Author): boolean {
    return !this.isRereading && this.#parts.log.newestLifeOf(this.#parts.nodeKey) >= incarnation;
  }

  /** Takes the life above the newest one of another process. */
  #takeNewestLife(nowMs: number): void {
    const { nodeKey, log, link, table, publisher } = this.#parts;
    const newest = log.newestLifeOf(nodeKey);
    if (newest <= publisher.incarnation || !publisher.beginLife(newest)) return;
    for (const { tokens } of table.lanes.values()) tokens?.forget();
    link.expectedSinceMs = nowMs;
    publisher.sayEverything(table.lanes, nowMs);
  }

  /** Stops holding the shares once the new log is complete; else does nothing. */
  settle(nowMs: number): void {
    const { nodeKey, log, link, table, notices } = this.#parts;
    const { epochs, pools } = log;
    if (!epochs.isHolding) return;
    if (!epochs.isOwnRead) {
      epochs.isOwnRead = this.#isOwnRead();
      if (epochs.isOwnRead) table.markAll();
    }
    if (!link.isHeard(MEMBERSHIP_PARTITION) || !epochs.isOwnRead || !epochs.isWaitOver(nowMs)) return;
    // From now on this node claims the number of nodes that the log shows, perhaps fewer, and all agree on that number.
    epochs.nodesAtLeast = 0;
    const isServed = pools.every((pool) => pool.isServed(nodeKey));
    if (table.agreesOnPool && !isServed && !epochs.isPoolWaitOver(nowMs)) return;
    const missing = epochs.settle();
    notices.push({ kind: 'epoch-settled', afterMs: nowMs - epochs.beganMs, missing });
    table.markAll();
  }

  /** Tests if own records were read on all linked partitions. The lanes of other partitions are isolated. */
  #isOwnRead(): boolean {
    const { link, log } = this.#parts;
    for (let partition = 0; partition < log.logTimes.length; partition++) {
      if (!link.isHeard(partition) && link.of(partition) === 'linked') return false;
    }
    return true;
  }
}
