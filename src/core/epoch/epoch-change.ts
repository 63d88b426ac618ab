import type { Notice, Phase } from '../coordinator-protocol.js';
import type { LaneTable } from '../lane-table.js';
import { createRampTurn } from '../ramp/ramp-writer.js';
import type { Publisher } from '../report/publisher.js';
import type { TopicRecord } from '../report/record.js';
import type { LinkWatch } from '../share/link-watch.js';
import type { LogReader } from '../usage-map/log-reader.js';
import { MEMBERSHIP_PARTITION } from '../usage-map/membership.js';
import type { NodeKey } from '../vocabulary.js';

export interface EpochChangeParts {
  readonly nodeKey: NodeKey;
  readonly log: LogReader;
  readonly link: LinkWatch;
  readonly table: LaneTable;
  readonly publisher: Publisher;
  readonly notices: Notice[];
}

/**
 * What a node does when the log is another one: forgets what the one before told, says everything again, and holds its
 * shares until the others have done the same (epoch-watch.ts). It goes on with its life: whoever starts in the new log
 * takes 1 + the highest life of its id that is there, and of two processes with one id the higher one goes on.
 */
export class EpochChange {
  /**
   * Another log is being read up to where it was when it began. What is there of this node's id, and newer than its own
   * life, may be of a process that died long ago: a log that lost its end has lost the end of that life, too.
   */
  isRereading = false;
  readonly #parts: EpochChangeParts;

  constructor(parts: EpochChangeParts) {
    this.#parts = parts;
  }

  begin(name: string, phase: Phase, nowMs: number): void {
    const { nodeKey: own, log, link, table, publisher, notices } = this.#parts;
    const { epochs, membership } = log;
    if (epochs.name === null) {
      epochs.begin(name, nowMs);
      return;
    }
    notices.push({ kind: 'epoch-changed', from: epochs.name, to: name, members: membership.alive.length });
    epochs.change(name, { alive: membership.alive, own, keepsShares: phase === 'ready' }, nowMs);
    log.forgetAll();
    for (const { rampTurn } of table.ordered) Object.assign(rampTurn, createRampTurn());
    table.markAll();
    if (phase === 'catching-up' || phase === 'stopping' || phase === 'fenced') return;
    this.isRereading = true;
    link.expectEchoSince(nowMs);
    publisher.sayEverything(table.lanes, nowMs);
  }

  /**
   * All that was in the other log has been read. If it has a newer life of this id than this process has, the process
   * takes one behind it. If that one runs as well, it reads the life that is taken now and is fenced: one of the two
   * goes on. Where no life is left, the next record of the other one fences.
   */
  caughtUp(nowMs: number): void {
    if (!this.isRereading) return;
    this.isRereading = false;
    this.#outlive(nowMs);
  }

  /**
   * A record of a newer life of this id: whether another process runs in it. One that is delivered again after its key
   * was buried is not in what the log holds; and a process that goes takes nothing over, so this one outlives it.
   */
  isSuperseded({ kind, author: { incarnation } }: TopicRecord, nowMs: number): boolean {
    if (this.isRereading || this.#parts.log.newestLifeOf(this.#parts.nodeKey) < incarnation) return false;
    if (kind === 'farewell') this.#outlive(nowMs);
    return kind !== 'farewell';
  }

  /** Takes the life behind the newest one that the log has of this id. */
  #outlive(nowMs: number): void {
    const { nodeKey, log, link, table, publisher } = this.#parts;
    const newest = log.newestLifeOf(nodeKey);
    if (newest <= publisher.incarnation || !publisher.beginLife(newest)) return;
    link.expectEchoSince(nowMs);
    publisher.sayEverything(table.lanes, nowMs);
  }

  /** Ends what `begin` has begun, when the new log says everything. */
  settle(nowMs: number): void {
    const { nodeKey, log, link, table, notices } = this.#parts;
    const { epochs, pool } = log;
    if (!epochs.isHolding) return;
    if (!epochs.isOwnRead) {
      epochs.isOwnRead = this.#isOwnRead();
      if (epochs.isOwnRead) table.markAll();
    }
    if (!link.isHeard(MEMBERSHIP_PARTITION) || !epochs.isOwnRead || !epochs.hasHeardAll(nowMs)) return;
    // From now on the node claims as many as the log shows, which may be fewer, and they agree on that.
    epochs.nodesAtLeast = 0;
    if (table.agreesOnPool && !pool.isServed(nodeKey) && !epochs.isOverdue(nowMs)) return;
    const missing = epochs.settle();
    notices.push({ kind: 'epoch-settled', afterMs: nowMs - epochs.beganMs, missing });
    table.markAll();
  }

  /** A partition that is lost holds nobody up: its lanes are isolated. */
  #isOwnRead(): boolean {
    const { link, log } = this.#parts;
    for (let partition = 0; partition < log.logTimes.length; partition++) {
      if (!link.isHeard(partition) && link.of(partition) === 'linked') return false;
    }
    return true;
  }
}
