import type {
  AppendRecord,
  ReadRecord,
  ReportTopic,
  ReportTopicListener,
  TopicCounters,
} from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { HmacConfig } from '../../config/resolved/resolved-config.js';
import { Envelope } from '../codec/envelope.js';
import { quotamesh } from '../codec/generated/report.js';
import type { KinWatch } from './kin-watch.js';
import { RecordSignature, SIGNATURE_BYTES, type SignedLog } from './record-signature.js';
import { SignatureBook } from './signature-book.js';
import { WithheldRecords } from './withheld-records.js';

export interface SignedTopicOptions extends SignedLog {
  readonly hmac: HmacConfig;
  /** In log lines: `topic`, `registry topic`. */
  readonly name: string;
  /**
   * Whether all nodes write under a key. What a record that is not believed has overwritten there is written again by
   * whoever knows it: so that record is read as a tombstone. Under any other key it is as if it had never been written.
   */
  readonly isShared: (key: string) => boolean;
  /** Absent for the registry's topic, on which no node writes heartbeats. */
  readonly kin?: KinWatch;
  readonly telemetry: Telemetry;
}

/**
 * Any topic with signed records: signs what is appended, and passes on what somebody of the cluster has signed.
 *
 * A tombstone has no value that could be signed, so it is written twice, in one append: as a signed record that says
 * so, for readers, and as the null behind it, for compaction. Where signatures are required the null alone means
 * nothing; but in the registry, which does not believe tombstones anyway.
 *
 * A node that is alone among strangers (KinWatch) is not given its own records either, except those of earlier lives
 * that were there when it came. Reading itself is a node's proof that it belongs to the cluster. Without it the node
 * does not become ready, and a ready one becomes isolated by the same rules as a node that is cut off. Log time stands
 * still without records, so nobody expires meanwhile. The node is given the records when it is no longer alone.
 */
export class SignedTopic implements ReportTopic {
  readonly signatures: SignatureBook;
  readonly #topic: ReportTopic;
  readonly #options: SignedTopicOptions;
  readonly #signature: RecordSignature;
  readonly #tombstone: Uint8Array;
  readonly #withheld = new WithheldRecords<ReadRecord>();
  /** Appended beside a signed tombstone; and read, and not passed on. */
  #nullsAppended = 0;
  #notPassed = 0;
  #isCaughtUp = false;

  constructor(topic: ReportTopic, options: SignedTopicOptions) {
    this.#topic = topic;
    this.#options = options;
    this.#signature = new RecordSignature(options.hmac, options);
    this.#tombstone = new Envelope(options.cluster).seal(quotamesh.v1.Kind.TOMBSTONE, new Uint8Array());
    const { name, hmac, telemetry, kin } = options;
    const mode = hmac.verify;
    this.signatures = new SignatureBook({ name, keyId: this.#signature.keyId, mode, telemetry, ...(kin && { kin }) });
  }

  get partitions(): number {
    return this.#topic.partitions;
  }

  get partitionsFound(): number {
    return this.#topic.partitionsFound ?? this.partitions;
  }

  get settingsMistake(): string | null {
    return this.#topic.settingsMistake ?? null;
  }

  get throttled(): string | null {
    return this.#topic.throttled ?? null;
  }

  /** Counts of the records that its users have appended, and were given. */
  get counters(): TopicCounters {
    const { recordsAppended, recordsRead, ...others } = this.#topic.counters;
    return {
      ...others,
      recordsAppended: recordsAppended - this.#nullsAppended,
      recordsRead: recordsRead - this.#notPassed,
    };
  }

  open(listener: ReportTopicListener): Promise<void> {
    return this.#topic.open({
      onEpoch: (epoch) => {
        this.#isCaughtUp = false;
        this.signatures.epochBegan();
        this.#withheld.epochBegan();
        listener.onEpoch(epoch);
      },
      onRecords: (records) => {
        const believed = this.#believed(records);
        if (believed.length > 0) listener.onRecords(believed);
      },
      onCaughtUp: () => {
        this.#isCaughtUp = true;
        listener.onCaughtUp();
      },
      onLost: (reason) => listener.onLost(reason),
      onRecovered: () => listener.onRecovered(),
      onFailed: (error) => listener.onFailed(error),
    });
  }

  append(records: readonly AppendRecord[]): Promise<void> {
    return this.#topic.append(records.flatMap((record) => this.#signed(record)));
  }

  close(): Promise<void> {
    return this.#topic.close();
  }

  #signed(record: AppendRecord): AppendRecord[] {
    if (record.value !== null) return [{ ...record, value: this.#signature.sign(record, record.value) }];
    if (this.#options.isShared(record.key)) return [record];
    this.#nullsAppended++;
    return [{ ...record, value: this.#signature.sign(record, this.#tombstone) }, record];
  }

  #believed(records: readonly ReadRecord[]): ReadRecord[] {
    const believed: ReadRecord[] = [];
    for (const record of records) {
      const read = record.value === null ? this.#readNull(record) : this.#readValue(record, record.value);
      if (read !== null) believed.push(read);
    }
    const passed = this.#withheld.pass(believed, this.signatures.watchKin() && this.#isCaughtUp);
    this.#notPassed += records.length - passed.length;
    return passed;
  }

  #readNull(record: ReadRecord): ReadRecord | null {
    this.signatures.buried(record);
    return this.#isStrict && !this.#options.isShared(record.key) ? null : record;
  }

  #readValue(record: ReadRecord, signed: Uint8Array): ReadRecord | null {
    const verdict = this.#signature.verify(record, signed);
    if (!this.signatures.read(record, verdict)) {
      if (this.#isStrict) return this.#options.isShared(record.key) ? { ...record, value: null } : null;
      return { ...record, isToRenew: true };
    }
    const said = signed.subarray(0, signed.length - SIGNATURE_BYTES);
    const value = Buffer.compare(said, this.#tombstone) === 0 ? null : said;
    return verdict === 'previous-key' ? { ...record, value, isToRenew: true } : { ...record, value };
  }

  get #isStrict(): boolean {
    return this.#options.hmac.verify === 'require';
  }
}
