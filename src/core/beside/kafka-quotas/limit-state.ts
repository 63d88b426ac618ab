import type { Entity, QuotaName } from './entity.js';
import { isOurs, type LimitRecord } from './keeper-record.js';

/** What was found in Kafka and is not what quotamesh has written there. */
export type LimitFinding = 'removed' | 'foreign';

/** One quota of one entity: what the log says of it, and what stands in Kafka. */
export class LimitState {
  readonly entity: Entity;
  readonly name: QuotaName;
  /** True if the configuration in force has it; others are in the log only. */
  isKept = false;
  /** Since when nobody has seen its entity, which is one of a pattern; null = it is seen, or has a name of its own. */
  unseenSinceMs: number | null = null;
  /** In the log, and to be sent to Kafka. */
  wanted: number | null = null;
  #record: LimitRecord | null = null;
  #found: number | null = null;
  #original: number | null = null;
  /** Foreign, taken over, and not written over yet. */
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

  /** What stood in Kafka at the last look; null = nothing. */
  get found(): number | null {
    return this.#found;
  }

  /** Whether this process has found there what it expected, at some time. */
  get wasOurs(): boolean {
    return this.#wasOurs;
  }

  /** Somebody else's value stands there, and stays. */
  get isLeft(): boolean {
    return this.#isLeft;
  }

  /** What stands there may be written over; false also while a change that was seen once is not judged yet. */
  get isClear(): boolean {
    if (this.#isLeft) return false;
    const isTaken = this.#found === null ? this.#isMissed : this.#found === this.#adopted;
    return isTaken || this.#isOurs(this.#found);
  }

  get original(): number | null {
    return this.#original;
  }

  /** Whether what stands in Kafka was written by quotamesh, and is not what it puts back. */
  get isToPutBack(): boolean {
    return this.#found !== null && this.#found !== this.#original && this.#isOurs(this.#found);
  }

  /** What the next record, of this term, says of those before it. */
  inheritance(term: number): Pick<LimitRecord, 'original' | 'earlier' | 'formerTerms'> {
    const original = this.#original;
    if (this.#record === null) return { original, earlier: [], formerTerms: [] };
    const { value, earlier, formerTerms } = this.#record;
    const own = [...new Set([value, ...earlier])];
    if (this.#record.term === term) return { original, earlier: own.slice(0, EARLIER_KEPT), formerTerms };
    const former = [...new Set([...own.slice(0, KEPT_OF_A_TERM), ...formerTerms])].slice(0, FORMER_KEPT);
    return { original, earlier: [], formerTerms: former };
  }

  take(record: LimitRecord, isToSend: boolean): void {
    this.#record = record;
    this.#original = record.original;
    if (isToSend) this.wanted = record.value;
  }

  /** There is no record any more: a release, or another log. */
  forget(): void {
    this.#record = null;
    this.#original = null;
    this.#adopted = null;
    this.wanted = null;
    this.#isLeft = false;
  }

  /** What stands there is the operator's, and quotamesh goes on from it. */
  adopt(): void {
    this.#original = this.#found;
    this.#adopted = this.#found;
    this.#isLeft = false;
  }

  /** Takes note of what stands in Kafka, without a judgement: another keeper writes. */
  look(found: number | null): void {
    this.#found = found;
    if (this.#isOurs(found)) this.#wasOurs = true;
  }

  /**
   * Compares with what stands in Kafka now, and returns what is new about it. A change is judged at the second look
   * that finds it, long enough after the last alteration: Kafka goes on showing the former value for a moment.
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

/** A request may be under way for 30 s, and there is one value per second. */
const EARLIER_KEPT = 32;
/** A writer has one value under way, and one more in its hand. */
const KEPT_OF_A_TERM = 4;
const FORMER_KEPT = 32;
/** A change is in force within a quarter of a second, and shown within 300 ms. */
const SETTLED_AFTER_MS = 900;
