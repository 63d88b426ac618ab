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
import { passingTo } from '../passing-listener.js';
import type { KinWatch } from './kin-watch.js';
import { RecordSignature, SIGNATURE_BYTES, type SignedLog } from './record-signature.js';
import { SignatureBook } from './signature-book.js';
import { WithheldRecords } from './withheld-records.js';

export interface SignedTopicOptions extends SignedLog {
  readonly hmac: HmacConfig;
  /** Name in log lines: `topic`, `registry topic`. */
  readonly name: string;
  /**
   * Tests if all nodes write under a key: there an ignored record reads as a tombstone, and who knows the overwritten
   * one writes it again. Elsewhere it never existed.
   */
  readonly isShared: (key: string) => boolean;
  /** Absent for the registry's topic, which has no heartbeats. */
  readonly kin?: KinWatch;
  readonly telemetry: Telemetry;
}

/**
 * Signs what is appended, and passes on what the cluster has signed. A tombstone has no value to sign, so it is written
 * twice in one append: a signed record for readers, and the null behind it for compaction. Where signatures are
 * required the null alone means nothing. A node apart (KinWatch) gets only those own records that were there when it
 * came: without its own it does not become ready, and a ready one becomes isolated, by the usual rules. Log time stands
 * still meanwhile, so nobody expires. It gets them when it is no longer alone.
 */
export class SignedTopic implements ReportTopic {
  readonly signatures: SignatureBook;
  readonly #topic: ReportTopic;
  readonly #options: SignedTopicOptions;
  readonly #signature: RecordSignature;
  readonly #tombstone: Uint8Array;
  readonly #withheld = new WithheldRecords<ReadRecord>();
  /** Nulls beside signed tombstones, appended, or read and not passed on. */
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

  get counters(): TopicCounters {
    const { recordsAppended, recordsRead, ...others } = this.#topic.counters;
    return {
      ...others,
      recordsAppended: recordsAppended - this.#nullsAppended,
      recordsRead: recordsRead - this.#notPassed,
    };
  }

  open(listener: ReportTopicListener): Promise<void> {
    const checking = passingTo(listener, {
      onEpoch: (epoch) => {
        this.#isCaughtUp = false;
        this.signatures.epochBegan();
        this.#withheld.epochBegan();
        listener.onEpoch(epoch);
      },
      onRecords: (records) => {
        const accepted = this.#accepted(records);
        if (accepted.length > 0) listener.onRecords(accepted);
      },
      onCaughtUp: () => {
        this.#isCaughtUp = true;
        listener.onCaughtUp();
      },
    });
    return this.#topic.open(checking);
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

  #accepted(records: readonly ReadRecord[]): ReadRecord[] {
    const accepted: ReadRecord[] = [];
    for (const record of records) {
      const read = record.value === null ? this.#readNull(record) : this.#readValue(record, record.value);
      if (read !== null) accepted.push(read);
    }
    const passed = this.#withheld.pass(accepted, this.signatures.watchKin() && this.#isCaughtUp);
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
