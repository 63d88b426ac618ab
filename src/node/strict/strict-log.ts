import { messageOf } from '../../base/errors/quotamesh-error.js';
import type { Clock } from '../../base/ports/clock.js';
import type { AppendRecord, ReadRecord, ReportTopic } from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { StrictQuota } from '../../core/strict/strict-quota.js';
import type { StrictRead, StrictWritten } from '../../core/strict/strict-record.js';
import { TopicInbox } from '../../topic/topic-inbox.js';
import { KeyLanes } from './key-lanes.js';
import { StrictBucket } from './strict-bucket.js';
import { decodeStrict, encodeStrict, laneOfKey, strictKeyOf } from './strict-codec.js';
import { readStrictHistory } from './strict-history.js';

export interface StrictLogOptions {
  /** Makes the topic, when it is opened. */
  readonly createTopic: () => Promise<ReportTopic>;
  readonly node: string;
  readonly cluster: string;
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

/** Milliseconds between tries to read a history. */
const HISTORY_AGAIN_MS = 1000;

/** Numbers a process's first life, behind those of the one before. */
export function firstLife(wallMs: number): number {
  return wallMs * LIVES_PER_MS;
}

const LIVES_PER_MS = 1000;
/** Lives that a lane may begin before it is removed. */
const LIVES_PER_LANE = 1_000_000;

/** Keeps strict buckets over one topic of one partition, opened at need. */
export class StrictLog {
  /** Records that no node has written in this format and log; ignored. */
  foreign = 0;
  readonly #options: StrictLogOptions;
  readonly #inbox: TopicInbox;
  readonly #buckets = new Map<string, StrictBucket>();
  /** Bucket → own time of its next round; an idle one has none. */
  readonly #due = new Map<StrictBucket, number>();
  /** Lanes added while the log was read: their history is being read, and this is what came behind it. */
  readonly #unlearnt = new Map<string, StrictRead[]>();
  #isLearning = false;
  /** Lanes of keys. */
  readonly keyed: KeyLanes;
  #historyTopic: ReportTopic | null = null;
  #lateLanes = 0;
  #topic: ReportTopic | null = null;
  #opened: Promise<void> | null = null;
  /** Why the topic could not be opened; null = it is, or is being opened. */
  #failed: string | null = null;
  #isStarted = false;
  #expectsKeys = false;
  #isReading = false;
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
      onCaughtUp: () => {
        this.keyed.caughtUp(this.#offset);
      },
    });
    const { node, cluster, life, clock } = options;
    this.keyed = new KeyLanes({
      node,
      cluster,
      life,
      clock,
      write: (lane, records) => this.#write(lane, records),
      writeSteady: (key) => this.#append([{ partition: 0, key, value: Buffer.from(this.#epoch) }]),
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
    if (this.#buckets.size > 0 || this.#expectsKeys) await this.#openOnce();
  }

  /** Opens the topic although no lane is open: keys may come. */
  expectKeys(): void {
    this.#expectsKeys = true;
    if (this.#isStarted) this.#openLate();
  }

  /**
   * Adds a bucket. It is known some milliseconds later, or after an expiry if nobody else knows it.
   *
   * @param lane its name in the topic, without slashes
   */
  add(lane: string, quota: StrictQuota): StrictBucket {
    const { node, clock } = this.#options;
    // A lane that was here before had these lives.
    const life = this.#options.life + LIVES_PER_LANE * (this.#isReading ? ++this.#lateLanes : 0);
    const write = (records: readonly StrictWritten[]) => this.#write(lane, records);
    const onDue = () => {
      if (this.#buckets.get(lane) === bucket) this.#due.set(bucket, bucket.dueMs);
    };
    const bucket = new StrictBucket({ node, life, quota, clock, write, onDue });
    this.#buckets.set(lane, bucket);
    this.#due.set(bucket, -Infinity);
    if (this.#isReading) {
      this.#unlearnt.set(lane, []);
      void this.#learn();
    }
    if (this.#isStarted) this.#openLate();
    return bucket;
  }

  /** Opens a key's lane. It is known at once, unless the log is not. */
  open(lane: string, quota: StrictQuota): StrictBucket {
    if (this.#isStarted) this.#openLate();
    return this.keyed.open(lane, quota);
  }

  /** Gives back what the bucket holds, and forgets it. */
  remove(lane: string): void {
    const bucket = this.#buckets.get(lane);
    if (bucket === undefined) return;
    bucket.leave();
    this.#buckets.delete(lane);
    this.#unlearnt.delete(lane);
    this.#due.delete(bucket);
  }

  /** Gives everything back, and closes the topic. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const lane of [...this.#buckets.keys()]) this.remove(lane);
    this.keyed.closeAll();
    this.#inbox.close();
    await this.#historyTopic?.close();
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
    this.#isReading = true;
    await topic.open(this.#inbox);
    if (!this.#isClosed) this.#timer = setInterval(() => this.#round(), ROUND_MS);
  }

  #beginEpoch(epoch: string): void {
    this.#epoch = epoch;
    this.#offset = -1;
    // The log is read from its start.
    this.#unlearnt.clear();
    this.keyed.beginEpoch(epoch);
    for (const bucket of this.#buckets.values()) {
      bucket.beginEpoch();
      this.#due.set(bucket, -Infinity);
    }
  }

  #read(records: readonly ReadRecord[]): void {
    this.#options.look();
    const touched = new Set<StrictBucket>();
    for (const read of records) {
      const { offset, appendMs, key, value } = read;
      if (offset <= this.#offset) continue;
      this.#offset = offset;
      if (this.keyed.read(read, touched)) continue;
      const lane = laneOfKey(key);
      const bucket = this.#buckets.get(lane);
      if (bucket === undefined || value === null) continue;
      const record = decodeStrict(value, this.#epoch);
      if (record === null) {
        this.foreign++;
        continue;
      }
      const told = { offset, appendMs: Math.floor(appendMs), record };
      const behind = this.#unlearnt.get(lane);
      if (behind !== undefined) behind.push(told);
      else {
        bucket.read(told);
        touched.add(bucket);
      }
    }
    for (const bucket of touched) bucket.round();
  }

  /** Reads the history of lanes that were added late. */
  async #learn(): Promise<void> {
    if (this.#isLearning) return;
    this.#isLearning = true;
    // Several are added in one turn.
    await new Promise(setImmediate);
    while (this.#unlearnt.size > 0 && !this.#isClosed) {
      const isLearnt = await this.#learnOnce(new Map(this.#unlearnt));
      if (!isLearnt) await new Promise((resolve) => setTimeout(resolve, HISTORY_AGAIN_MS).unref());
    }
    this.#isLearning = false;
  }

  /** Returns false if the log is another, or could not be read. */
  async #learnOnce(lanes: ReadonlyMap<string, readonly StrictRead[]>): Promise<boolean> {
    const { createTopic, telemetry } = this.#options;
    try {
      this.#historyTopic = await createTopic();
      if (this.#isClosed) return false;
      const { epoch, reads } = await readStrictHistory(this.#historyTopic, new Set(lanes.keys()), telemetry);
      if (epoch !== this.#epoch) return false;
      for (const [lane, behind] of lanes) {
        if (this.#unlearnt.get(lane) === behind) this.#begin(lane, reads.get(lane) ?? [], behind);
      }
      return true;
    } catch (error) {
      telemetry.log('warn', 'strict topic cannot be read from its start: groups that were added learn later', {
        reason: messageOf(error),
      });
      return false;
    }
  }

  #begin(lane: string, history: readonly StrictRead[], behind: readonly StrictRead[]): void {
    this.#unlearnt.delete(lane);
    const bucket = this.#buckets.get(lane);
    const last = history.at(-1)?.offset ?? -1;
    for (const read of [...history, ...behind.filter(({ offset }) => offset > last)]) bucket?.read(read);
    bucket?.round();
  }

  #round(): void {
    const { look, clock } = this.#options;
    look();
    const nowMs = clock();
    for (const [bucket, dueMs] of this.#due) {
      if (dueMs === Infinity) this.#due.delete(bucket);
      else if (dueMs <= nowMs) bucket.round();
    }
    this.keyed.round(nowMs);
  }

  #write(lane: string, written: readonly StrictWritten[]): void {
    const encoded = (each: StrictWritten) => encodeStrict(each, this.#epoch);
    const records = written.map((each) => ({ partition: 0, key: strictKeyOf(lane, each), value: encoded(each) }));
    this.#append(records);
  }

  #append(records: readonly AppendRecord[]): void {
    // The next claim says again what is lost.
    this.#appending = this.#topic?.append(records).catch(() => undefined) ?? this.#appending;
  }
}
