import { messageOf } from '../../base/errors/quotamesh-error.js';
import type { Clock } from '../../base/ports/clock.js';
import type { ReadRecord, ReportTopic } from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { StrictQuota } from '../../core/strict/strict-quota.js';
import type { StrictWritten } from '../../core/strict/strict-record.js';
import { TopicInbox } from '../../topic/topic-inbox.js';
import { StrictBucket } from './strict-bucket.js';
import { decodeStrict, encodeStrict, laneOfKey, strictKeyOf } from './strict-codec.js';

export interface StrictLogOptions {
  /** Makes the topic, when it is opened. */
  readonly createTopic: () => Promise<ReportTopic>;
  readonly node: string;
  /** Greater than in earlier processes of this node id. */
  readonly life: number;
  /** Goes on in suspends. */
  readonly clock: Clock;
  /** Called before rounds, and before records are read. */
  readonly look: () => void;
  readonly telemetry: Telemetry;
}

/** Milliseconds between rounds. */
const ROUND_MS = 20;
/** Milliseconds in which the end of a life is written; without it others wait for the expiry. */
const LEAVE_MS = 1000;
/** Records per turn of the event loop. More: reading the log at a start holds requests back for longer. */
const RECORDS_PER_TURN = 1000;

/** Numbers a process's first life, behind those of the one before. */
export function firstLife(wallMs: number): number {
  return wallMs * LIVES_PER_MS;
}

const LIVES_PER_MS = 1000;

/** Keeps strict buckets over one topic of one partition, opened at need. */
export class StrictLog {
  /** Records that no node has written in this format and log; ignored. */
  foreign = 0;
  readonly #options: StrictLogOptions;
  readonly #inbox: TopicInbox;
  readonly #buckets = new Map<string, StrictBucket>();
  /** Buckets that need rounds, now or at a time; an idle one does not. */
  readonly #due = new Set<StrictBucket>();
  #topic: ReportTopic | null = null;
  #opened: Promise<void> | null = null;
  /** Why the topic could not be opened; null = it is, or is being opened. */
  #failed: string | null = null;
  #isStarted = false;
  #isClosed = false;
  #epoch = '';
  #offset = -1;
  #timer: NodeJS.Timeout | null = null;
  #appending: Promise<unknown> = Promise.resolve();

  constructor(options: StrictLogOptions) {
    this.#options = options;
    this.#inbox = new TopicInbox({
      name: 'strict topic',
      lossMeans: '; strict groups admit what was granted, and then nothing',
      recordsPerTurn: RECORDS_PER_TURN,
      telemetry: options.telemetry,
      onEpoch: (epoch) => this.#beginEpoch(epoch),
      onRead: (records) => this.#read(records),
      onCaughtUp: () => {},
    });
  }

  /** Settings of the topic by which it may lose what was granted; null = none. */
  get unsafe(): string | null {
    return this.#topic?.settingsMistake ?? null;
  }

  /** Why the topic is away; null = it works, or is not needed. */
  get lost(): string | null {
    return this.#failed ?? this.#inbox.lost;
  }

  /** Opens the topic if there is a bucket; later the first opens it. Rejects where the topic cannot be used. */
  async start(): Promise<void> {
    this.#isStarted = true;
    if (this.#buckets.size > 0) await this.#openOnce();
  }

  /**
   * Adds a bucket. It is known some milliseconds later, or after an expiry if nobody else knows it.
   *
   * @param lane its name in the topic, without slashes
   */
  add(lane: string, quota: StrictQuota): StrictBucket {
    const { node, life, clock } = this.#options;
    const write = (records: readonly StrictWritten[]) => this.#write(lane, records);
    const onDue = () => this.#due.add(bucket);
    const bucket = new StrictBucket({ node, life, quota, clock, write, onDue });
    this.#buckets.set(lane, bucket);
    this.#due.add(bucket);
    if (this.#isStarted) this.#openLate();
    return bucket;
  }

  /** Gives back what the bucket holds, and forgets it. */
  remove(lane: string): void {
    const bucket = this.#buckets.get(lane);
    if (bucket === undefined) return;
    bucket.leave();
    this.#buckets.delete(lane);
    this.#due.delete(bucket);
  }

  /** Gives everything back, and closes the topic. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const lane of [...this.#buckets.keys()]) this.remove(lane);
    this.#inbox.close();
    if (this.#opened === null) return;
    await Promise.race([this.#appending, new Promise((resolve) => setTimeout(resolve, LEAVE_MS).unref())]);
    await this.#topic?.close();
  }

  #openOnce(): Promise<void> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Opens the topic while the node runs already. */
  #openLate(): void {
    this.#openOnce().catch((error: unknown) => {
      this.#failed = messageOf(error);
      const facts = { reason: this.#failed, remedy: 'Correct it, and restart the node.' };
      this.#options.telemetry.log('error', 'strict topic cannot be used: strict groups admit nothing', facts);
    });
  }

  async #open(): Promise<void> {
    const topic = await this.#options.createTopic();
    this.#topic = topic;
    await topic.open(this.#inbox);
    if (!this.#isClosed) this.#timer = setInterval(() => this.#round(), ROUND_MS);
  }

  #beginEpoch(epoch: string): void {
    this.#epoch = epoch;
    this.#offset = -1;
    for (const bucket of this.#buckets.values()) {
      bucket.beginEpoch();
      this.#due.add(bucket);
    }
  }

  #read(records: readonly ReadRecord[]): void {
    this.#options.look();
    const touched = new Set<StrictBucket>();
    for (const { offset, appendMs, key, value } of records) {
      if (offset <= this.#offset) continue;
      this.#offset = offset;
      const bucket = this.#buckets.get(laneOfKey(key));
      if (bucket === undefined || value === null) continue;
      const record = decodeStrict(value, this.#epoch);
      if (record === null) {
        this.foreign++;
        continue;
      }
      bucket.read({ offset, appendMs: Math.floor(appendMs), record });
      touched.add(bucket);
    }
    for (const bucket of touched) bucket.round();
  }

  #round(): void {
    const { look, clock } = this.#options;
    look();
    const nowMs = clock();
    for (const bucket of this.#due) {
      const { dueMs } = bucket;
      if (dueMs === Infinity) this.#due.delete(bucket);
      else if (dueMs <= nowMs) bucket.round();
    }
  }

  #write(lane: string, written: readonly StrictWritten[]): void {
    const encoded = (each: StrictWritten) => encodeStrict(each, this.#epoch);
    const records = written.map((each) => ({ partition: 0, key: strictKeyOf(lane, each), value: encoded(each) }));
    // The next claim says again what is lost.
    this.#appending = this.#topic?.append(records).catch(() => undefined) ?? this.#appending;
  }
}
