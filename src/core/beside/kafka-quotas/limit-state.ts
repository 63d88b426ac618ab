import { LIMIT_VALUES_KEPT, SETTLED_AFTER_MS, WRITER_VALUES_KEPT } from '../constants.js';
import type { Entity, QuotaName } from './entity.js';
import { isOurs, type LimitRecord } from './keeper-record.js';

/** Change in Kafka that quotamesh has not made. */
export type LimitFinding = 'removed' | 'foreign';

export class LimitState {
  readonly entity: Entity;
  readonly name: QuotaName;
  /** True = configured, or a needed marker; others are in the log only. */
  isKept = false;
  /** Since when a pattern's entity is unseen; null = seen, or named. */
  unseenSinceMs: number | null = null;
  /** Value in the log, to be sent to Kafka; null = none. */
  wanted: number | null = null;
  #record: LimitRecord | null = null;
  #found: number | null = null;
  #original: number | null = null;
  /** Foreign value that was taken over, until it is overwritten. */
  #adopted: number | null = null;
  #isLeft = false;
  #wasOurs = false;
  #isMissed = false;

  constructor(entity: Entity, name: QuotaName) {
    this.entity = entity;
    this.name = name;
  }

  get record(): LimitRecord | null {
    return this.#record;
  }

  get found(): number | null {
    return this.#found;
  }

  /** True = this process has once found the expected value in Kafka. */
  get wasOurs(): boolean {
    return this.#wasOurs;
  }

  /** True = a foreign value stands in Kafka, and stays. */
  get isLeft(): boolean {
    return this.#isLeft;
  }

  /** True = the value may be overwritten; false also while a change awaits judgement. */
  get isClear(): boolean {
    if (this.#isLeft) return false;
    const isTaken = this.#found === null ? this.#isMissed : this.#found === this.#adopted;
    return isTaken || this.#isOurs(this.#found);
  }

  get original(): number | null {
    return this.#original;
  }

  /** True = Kafka has quotamesh's value, and not the original. */
  get isToPutBack(): boolean {
    return this.#found !== null && this.#found !== this.#original && this.#isOurs(this.#found);
  }

  /** Returns the fields that this term's next record inherits. */
  inheritance(term: number): Pick<LimitRecord, 'original' | 'earlier' | 'formerTerms'> {
    const original = this.#original;
    if (this.#record === null) return { original, earlier: [], formerTerms: [] };
    const { value, earlier, formerTerms } = this.#record;
    const own = [...new Set([value, ...earlier])];
    if (this.#record.term === term) return { original, earlier: own.slice(0, LIMIT_VALUES_KEPT), formerTerms };
    const former = [...new Set([...own.slice(0, WRITER_VALUES_KEPT), ...formerTerms])].slice(0, LIMIT_VALUES_KEPT);
    return { original, earlier: [], formerTerms: former };
  }

  take(record: LimitRecord, isToSend: boolean): void {
    this.#record = record;
    this.#original = record.original;
    if (isToSend) this.wanted = record.value;
  }

  forget(): void {
    this.#record = null;
    this.#original = null;
    this.#adopted = null;
    this.wanted = null;
    this.#isLeft = false;
  }

  /** Takes over the operator's value. */
  adopt(): void {
    this.#original = this.#found;
    this.#adopted = this.#found;
    this.#isLeft = false;
  }

  /** Notes Kafka's value without judging it, because another keeper writes. */
  look(found: number | null): void {
    this.#found = found;
    if (this.#isOurs(found)) this.#wasOurs = true;
  }

  /**
   * Compares with Kafka, and returns a new finding. A change is judged at its second look, long enough after the last
   * alteration: Kafka shows the former value for a moment.
   */
  compare(found: number | null, sinceAlteredMs: number): LimitFinding | null {
    const isSame = found === this.#found;
    this.#found = found;
    if (this.#isOurs(found)) {
      this.#wasOurs = true;
      this.#adopted = null;
      this.#isLeft = false;
      this.#isMissed = false;
      return null;
    }
    if (sinceAlteredMs < SETTLED_AFTER_MS || (this.#record !== null && !isSame)) return null;
    if (found === null) {
      this.#isLeft = false;
      const isNew = this.#wasOurs && !this.#isMissed;
      this.#isMissed = true;
      return isNew ? 'removed' : null;
    }
    if (this.#isLeft || found === this.#adopted) return null;
    this.#isLeft = true;
    return 'foreign';
  }

  #isOurs(found: number | null): boolean {
    const record = this.#record;
    if (record === null || found === null) return record === null && found === null;
    return isOurs(record, found);
  }
}
