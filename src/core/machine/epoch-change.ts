import type { LaneTable } from '../account/lanes/lane-table.js';
import type { LinkWatch } from '../account/lanes/link-watch.js';
import type { EpochBegan, Notice, Phase } from '../base/protocol/events-and-effects.js';
import type { Author, TopicRecord } from '../base/protocol/record.js';
import type { NodeKey } from '../base/vocabulary.js';
import { MEMBERSHIP_PARTITION } from '../base/vocabulary.js';
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
 * Replaces the log that a node follows by another one. The node forgets what the old log told, writes everything
 * that it has to say again, and holds its shares until the other nodes have done the same (epoch-watch.ts).
 *
 * The node keeps its life. A process that starts in the new log takes a life above the highest one of its id that it
 * finds there, so of two processes with one id the one with the higher life goes on.
 */
export class EpochChange {
  /**
   * True while the new log is read for the first time, up to the end that it had when it began. A newer life of this
   * node's id in that part may belong to a process that died long ago: a log that lost its end has lost the end of that
   * life, too.
   */
  isRereading = false;
  /** True when this process took part in another log before: others may work with as many partitions as it counts. */
  hasLeftALog = false;
  readonly #parts: EpochChangeParts;

  constructor(parts: EpochChangeParts) {
    this.#parts = parts;
  }

  /** Another log is read from now on, from its start. */
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
    link.expectEchoSince(nowMs);
    publisher.sayEverything(table.lanes, nowMs);
  }

  /**
   * The new log has been read up to the end that it had when it began. If it holds a newer life of this id, this
   * process takes a life above that one. If the other process still runs, it reads this higher life and is fenced, so
   * that one of the two goes on. If there is no higher life to take, the next record of the other process fences this
   * one.
   */
  caughtUp(nowMs: number): void {
    if (!this.isRereading) return;
    this.isRereading = false;
    this.#parts.log.epochs.caughtUp();
    this.#takeNewestLife(nowMs);
  }

  /**
   * Tests if another process of this id runs, judged by a record of a life newer than this one's. A record that is
   * delivered again after its key was buried proves nothing: its life is no longer in the log. A farewell proves that
   * the other process has ended (see `outlive`).
   */
  isSupersededBy({ kind, author }: TopicRecord): boolean {
    return kind !== 'farewell' && this.#isNewLife(author);
  }

  /** If the record is the farewell of a newer life of this id, this process takes a life above it and goes on. */
  outlive({ kind, author }: TopicRecord, nowMs: number): void {
    if (kind === 'farewell' && this.#isNewLife(author)) this.#takeNewestLife(nowMs);
  }

  #isNewLife({ incarnation }: Author): boolean {
    return !this.isRereading && this.#parts.log.newestLifeOf(this.#parts.nodeKey) >= incarnation;
  }

  /** Takes the life above the newest one that the log has of this id, unless this process has the newest one. */
  #takeNewestLife(nowMs: number): void {
    const { nodeKey, log, link, table, publisher } = this.#parts;
    const newest = log.newestLifeOf(nodeKey);
    if (newest <= publisher.incarnation || !publisher.beginLife(newest)) return;
    for (const { tokens } of table.lanes.values()) tokens?.forget();
    link.expectEchoSince(nowMs);
    publisher.sayEverything(table.lanes, nowMs);
  }

  /** Stops holding the shares once the new log says everything; does nothing before. */
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

  /** A partition that this node cannot hear does not count: its lanes are isolated, and the others need not wait. */
  #isOwnRead(): boolean {
    const { link, log } = this.#parts;
    for (let partition = 0; partition < log.logTimes.length; partition++) {
      if (!link.isHeard(partition) && link.of(partition) === 'linked') return false;
    }
    return true;
  }
}
