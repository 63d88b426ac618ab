import type { Append, ReadEvent } from '../../src/core/base/protocol/events-and-effects.js';
import type { EventQueue } from './event-queue.js';
import type { Random } from './random.js';
import {
  type AppendFaults,
  type Connection,
  createConnection,
  type DeliveryTroubles,
  noteRemoved,
  type ProduceEnded,
  type Slowness,
  type TopicDelays,
  type TopicListener,
} from './topic-connection.js';
import { roundToWire } from './wire-precision.js';

export type { Connection, TopicDelays } from './topic-connection.js';

/** Milliseconds that an appender waits for a lost answer. */
const APPEND_TIMEOUT_MS = 500;
/** Milliseconds for a silent leader: the default of topic.appendTimeoutMs. */
export const SILENT_TIMEOUT_MS = 5000;
/** Records given again to a reader that lost its offset. */
const REPEATED_RECORDS = 10;

/** Record with its writer's key; without signatures all are the same. */
export interface SignedEvent extends ReadEvent {
  readonly signedWith: string;
  /** Number of its process's connection. */
  readonly writer: number;
}

/** Runs a topic in virtual time, with seeded troubles that src/base/ports/report-topic.ts allows. */
export class SimulatedTopic {
  /** Records in append order; `partitions` has them by partition. */
  log: SignedEvent[] = [];
  readonly partitions: SignedEvent[][];
  readonly faults: AppendFaults = { lost: 0, unacknowledged: 0 };
  readonly deliveries: DeliveryTroubles = { repeatedRatio: 0, lateRatio: 0, lateMs: 0 };
  readonly slowness: Slowness = { appendMs: 0, deliveryMs: 0 };
  /** Addend of the log's clock. */
  clockOffsetMs = 0;
  /** True = some append time is earlier than its predecessor's. */
  hasSteppedBack = false;
  readonly #queue: EventQueue;
  readonly #random: Random;
  readonly #delays: TopicDelays;
  readonly #connections = new Set<Connection>();
  /** Connections so far. */
  #connected = 0;
  #isAway = false;
  /** Partitions whose leaders are silent. */
  readonly #silent = new Set<number>();
  #epoch = 1;
  /** Records of `log` dropped from memory. */
  #forgotten = 0;

  constructor(queue: EventQueue, random: Random, delays: TopicDelays, partitions: number) {
    this.#queue = queue;
    this.#random = random;
    this.#delays = delays;
    this.partitions = Array.from({ length: partitions }, () => []);
  }

  get epoch(): string {
    return `simulated ${this.#epoch}`;
  }

  makeAnew(): void {
    this.truncate(() => 0);
  }

  /** Adds partitions; connected processes go on without them. */
  grow(added: number): void {
    for (let at = 0; at < added; at++) this.partitions.push([]);
  }

  /** Removes each partition's end from the offset of `keep`. */
  truncate(keep: (partition: number, endOffset: number) => number): void {
    this.partitions.forEach((partition, at) => {
      partition.length = Math.max(0, Math.min(partition.length, keep(at, partition.length)));
    });
    const kept = new Set(this.partitions.flat());
    this.log = this.log.filter((read) => kept.has(read));
    this.#forgotten = this.#forgotten === 0 ? 0 : this.log.filter((read) => read === FORGOTTEN).length;
    this.#epoch++;
    for (const connection of this.#connections) this.#planRestart(connection);
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  set isAway(isAway: boolean) {
    this.#isAway = isAway;
    if (!isAway) for (const connection of this.#connections) this.#resume(connection);
  }

  /** Silences a partition's leader, or not; nobody catches up meanwhile. */
  silence(partition: number, isSilent: boolean): void {
    if (isSilent) this.#silent.add(partition);
    else {
      this.#silent.delete(partition);
      for (const connection of this.#connections) this.#resume(connection);
    }
  }

  /** Delivers the log, reports catching up, and goes on. Compacted = the newest per key. */
  connect(listener: TopicListener, compacted: boolean, signsWith = ''): Connection {
    const known = { number: ++this.#connected, signsWith, epoch: this.epoch };
    const connection = createConnection(listener, this.partitions.length, known);
    this.#queue.after(this.drawDelayMs('deliveryMs'), () => this.#open(connection, compacted));
    return connection;
  }

  close(connection: Connection): void {
    connection.isClosed = true;
    this.#connections.delete(connection);
  }

  cut(connection: Connection, ways: { readonly reads: boolean; readonly appends: boolean }): void {
    connection.readsCut = ways.reads;
    connection.appendsCut = ways.appends;
    this.#resume(connection);
  }

  /** Delivers each partition's last `count` delivered records again. */
  repeat(connection: Connection, count: number): void {
    if (connection.epoch !== this.epoch) return;
    const again = connection.next.flatMap((next, partition) =>
      this.partitions[partition]
        .slice(Math.max(0, next - count), next)
        .filter(({ offset }) => connection.removed[partition]?.has(offset) !== true),
    );
    if (connection.isOpen && again.length > 0) connection.listener.onRecords(again);
  }

  /**
   * Produces: each partition's records arrive together and in order, partitions apart. The appender gets the result of
   * the last, and sends nothing more until then.
   */
  append(connection: Connection, appends: readonly Append[], ended: ProduceEnded): void {
    const parts = byPartition(appends);
    let answers = 0;
    let timeoutMs = APPEND_TIMEOUT_MS;
    let isAcknowledged = true;
    for (const part of parts) {
      this.#queue.after(this.drawDelayMs('appendMs'), () => {
        const isSilent = this.#silent.has(part[0].partition);
        timeoutMs = isSilent ? SILENT_TIMEOUT_MS : timeoutMs;
        isAcknowledged = !isSilent && this.#arrive(connection, part) && isAcknowledged;
        if (++answers < parts.length) return;
        this.#queue.after(isAcknowledged ? this.drawDelayMs('appendMs') : timeoutMs, () => ended(isAcknowledged));
      });
    }
  }

  /** Drops records that all connections have read; indexes stay. No process may join later. */
  forgetDelivered(): void {
    const read = this.partitions.map((_, at) => Math.min(...[...this.#connections].map(({ next }) => next[at] ?? 0)));
    while (this.#forgotten < this.log.length) {
      const { partition, offset } = this.log[this.#forgotten];
      if (offset >= read[partition]) return;
      this.log[this.#forgotten++] = FORGOTTEN;
      this.partitions[partition][offset] = FORGOTTEN;
    }
  }

  drawDelayMs(way: keyof TopicDelays): number {
    const delays = this.#delays[way];
    return this.#random.between(delays[0], delays[1]) + this.slowness[way];
  }

  #open(connection: Connection, compacted: boolean): void {
    if (connection.isClosed) return;
    if (this.#isAway || this.#silent.size > 0 || connection.readsCut) {
      this.#queue.after(100, () => this.#open(connection, compacted));
      return;
    }
    const history = this.#readBy(connection, compacted ? this.#newestPerKey() : this.log);
    this.#readToEnd(connection);
    if (compacted) noteRemoved(connection, this.partitions, history);
    connection.isOpen = true;
    this.#connections.add(connection);
    connection.epoch = this.epoch;
    connection.listener.onEpoch(this.epoch);
    if (history.length > 0) connection.listener.onRecords(history);
    connection.listener.onCaughtUp();
  }

  /** Returns true if the appender gets an acknowledgement. */
  #arrive(connection: Connection, part: readonly Append[]): boolean {
    const fate = this.#random.next();
    // A killed process's produce may reach the log or not.
    const { lost, unacknowledged } = connection.isClosed ? KILLED : this.faults;
    if (this.#isAway || connection.appendsCut || fate < lost) return false;
    for (const append of part) this.#write(append, connection);
    const { partition } = part[0];
    for (const listening of this.#connections) {
      if (partition < listening.next.length) this.#planDelivery(listening, partition);
    }
    return fate >= lost + unacknowledged;
  }

  #write({ partition, key, record }: Append, { signsWith: signedWith, number: writer }: Connection): void {
    const kept = this.partitions[partition];
    const appendMs = Math.floor(this.#queue.nowMs + this.clockOffsetMs);
    if (appendMs < (kept.at(-1)?.appendMs ?? 0)) this.hasSteppedBack = true;
    const read = { partition, offset: kept.length, appendMs, key, record: roundToWire(record), signedWith, writer };
    kept.push(read);
    this.log.push(read);
  }

  /** Plans a delivery in the partition's order, whatever the delays. */
  #planDelivery(connection: Connection, partition: number): void {
    const upTo = this.partitions[partition].length;
    const soonestMs = this.#queue.nowMs + this.drawDelayMs('deliveryMs') + this.#lateness() + connection.lateMs;
    const atMs = Math.max(connection.plannedMs[partition], soonestMs);
    connection.plannedMs[partition] = atMs;
    this.#queue.at(atMs, () => this.#deliver(connection, partition, upTo));
  }

  #deliver(connection: Connection, partition: number, upTo: number): void {
    if (this.#isAway || connection.readsCut || connection.isClosed || connection.epoch !== this.epoch) return;
    if (this.#silent.has(partition)) return;
    const from = connection.next[partition];
    const records = this.partitions[partition].slice(from, upTo);
    if (records.length === 0) return;
    // A delivery planned for the former log may exceed this one.
    connection.next[partition] = from + records.length;
    connection.listener.onRecords(records);
    const { repeatedRatio } = this.deliveries;
    if (repeatedRatio > 0 && this.#random.next() < repeatedRatio) this.repeat(connection, REPEATED_RECORDS);
  }

  #planRestart(connection: Connection): void {
    this.#queue.after(this.drawDelayMs('deliveryMs') + this.#lateness(), () => this.#restart(connection));
  }

  #restart(connection: Connection): void {
    if (this.#isAway || this.#silent.size > 0 || connection.readsCut || connection.isClosed) return;
    if (connection.epoch === this.epoch) return;
    connection.epoch = this.epoch;
    connection.removed.length = 0;
    this.#readToEnd(connection);
    connection.listener.onEpoch(this.epoch);
    const history = this.#readBy(connection, this.log);
    if (history.length > 0) connection.listener.onRecords(history);
    connection.listener.onCaughtUp();
  }

  #readToEnd({ next }: Connection): void {
    for (let at = 0; at < next.length; at++) next[at] = this.partitions[at].length;
  }

  /** Returns this connection's records, without later partitions. */
  #readBy({ next }: Connection, records: readonly SignedEvent[]): readonly SignedEvent[] {
    return next.length === this.partitions.length
      ? [...records]
      : records.filter(({ partition }) => partition < next.length);
  }

  #lateness(): number {
    const { lateRatio, lateMs } = this.deliveries;
    return lateRatio > 0 && this.#random.next() < lateRatio ? lateMs : 0;
  }

  /** Delivers what a cut way has missed. */
  #resume(connection: Connection): void {
    if (!connection.isOpen || connection.readsCut || this.#isAway) return;
    if (connection.epoch !== this.epoch) this.#planRestart(connection);
    for (let partition = 0; partition < connection.next.length; partition++) this.#planDelivery(connection, partition);
  }

  #newestPerKey(): SignedEvent[] {
    const newest = new Map<string, SignedEvent>();
    for (const read of this.log) newest.set(`${read.partition}:${read.key}`, read);
    return this.log.filter((read) => newest.get(`${read.partition}:${read.key}`) === read);
  }
}

function byPartition(appends: readonly Append[]): readonly (readonly Append[])[] {
  const first = appends[0]?.partition;
  if (appends.every(({ partition }) => partition === first)) return [appends];
  const parts = new Map<number, Append[]>();
  for (const append of appends) {
    const part = parts.get(append.partition);
    if (part === undefined) parts.set(append.partition, [append]);
    else part.push(append);
  }
  return [...parts.values()];
}

const KILLED: AppendFaults = { lost: 0.5, unacknowledged: 0 };

/** Stands for records that nobody reads again. */
const FORGOTTEN: SignedEvent = {
  partition: 0,
  offset: -1,
  appendMs: 0,
  key: '',
  record: null,
  signedWith: '',
  writer: 0,
};
