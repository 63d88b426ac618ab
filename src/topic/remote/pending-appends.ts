import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { AppendRecord } from '../../base/ports/report-topic.js';
import { sizeOf } from '../topic-counters.js';
import { withDeadline } from './deadline.js';
import { type Outbox, PARCEL_BYTES_MAX, type Parcel } from './outbox.js';
import { reasonOf } from './topic-unusable.js';

/** Most appends: nodes have one per partition under way. */
const PENDING_MAX = 1_000;
const PENDING_BYTES_MAX = 32 * 1024 * 1024;

/** Holds appends with deadlines, in a bounded number. */
export class PendingAppends {
  readonly #topic: string;
  readonly #timeoutMs: number;
  readonly #outbox: Outbox;
  readonly #abandon = new Set<(error: Error) => void>();
  #bytes = 0;

  constructor(topic: string, timeoutMs: number, outbox: Outbox) {
    this.#topic = topic;
    this.#timeoutMs = timeoutMs;
    this.#outbox = outbox;
  }

  /**
   * Appends; rejects with a QuotameshError. `onAnswer` gets the leader's answer per parcel, also after the deadline.
   */
  async append(records: readonly AppendRecord[], onAnswer: (error: Error | null) => void): Promise<void> {
    const bytes = records.reduce((sum, record) => sum + sizeOf(record), 0);
    if (this.#abandon.size >= PENDING_MAX || this.#bytes + bytes > PENDING_BYTES_MAX) {
      const reason = `${this.#abandon.size} appends of ${this.#bytes} bytes are waiting already`;
      throw new QuotameshError('APPEND_REFUSED', { topic: this.#topic, reason });
    }
    this.#bytes += bytes;
    const { promise, resolve, reject } = withResolvers();
    const parcels = pack(records, resolve, reject, onAnswer);
    this.#abandon.add(reject);
    try {
      this.#outbox.put(parcels);
      await withDeadline(promise, this.#timeoutMs, () => this.#timedOut());
    } catch (error) {
      if (error instanceof QuotameshError) throw error;
      throw new QuotameshError('TOPIC_UNREACHABLE', { topic: this.#topic, reason: reasonOf(error) }, { cause: error });
    } finally {
      this.#outbox.drop(new Set(parcels));
      this.#abandon.delete(reject);
      this.#bytes -= bytes;
    }
  }

  rejectAll(error: Error): void {
    for (const reject of [...this.#abandon]) reject(error);
  }

  #timedOut(): QuotameshError {
    return new QuotameshError('APPEND_TIMED_OUT', { topic: this.#topic, timeoutMs: this.#timeoutMs });
  }
}

/** Cuts by partition and size. The last parcel ends the append, the first failed one fails it. */
function pack(
  records: readonly AppendRecord[],
  resolve: () => void,
  reject: (error: Error) => void,
  onAnswer: (error: Error | null) => void,
): Parcel[] {
  let unsettled = 0;
  const settle = (error: Error | null) => {
    onAnswer(error);
    if (error) reject(error);
    else if (--unsettled === 0) resolve();
  };
  const parcels = cut(records).map(({ partition, pieces, bytes }) => ({ partition, records: pieces, bytes, settle }));
  unsettled = parcels.length;
  return parcels;
}

interface Cut {
  readonly partition: number;
  readonly pieces: AppendRecord[];
  bytes: number;
}

function cut(records: readonly AppendRecord[]): Cut[] {
  const cuts: Cut[] = [];
  const open = new Map<number, Cut>();
  for (const record of records) {
    const size = sizeOf(record);
    let current = open.get(record.partition);
    if (!current || current.bytes + size > PARCEL_BYTES_MAX) {
      current = { partition: record.partition, pieces: [], bytes: 0 };
      open.set(record.partition, current);
      cuts.push(current);
    }
    current.pieces.push(record);
    current.bytes += size;
  }
  return cuts;
}

function withResolvers(): { promise: Promise<void>; resolve: () => void; reject: (error: Error) => void } {
  let resolve: () => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((onDone, onFailed) => {
    resolve = onDone;
    reject = onFailed;
  });
  return { promise, resolve, reject };
}
