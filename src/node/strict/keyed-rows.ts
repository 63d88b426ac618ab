import type { ReadRecord } from '../../base/ports/report-topic.js';
import { isUntold } from '../../core/strict/budget-account.js';
import { EXPIRY_MS } from '../../core/strict/constants.js';
import { type LaneRow, LaneRows } from '../../core/strict/lane-rows.js';
import { ALL_ENDED_MS } from '../../core/strict/strict-newcomer.js';
import type { StrictQuota } from '../../core/strict/strict-quota.js';
import type { StrictRead } from '../../core/strict/strict-record.js';
import type { KeyLanesParts } from './key-lanes.js';
import type { StrictBucket } from './strict-bucket.js';
import { decodeStrict, keyedQuotaOf, steadyKeyOf } from './strict-codec.js';

interface KeyedRowsParts extends KeyLanesParts {
  readonly isOpen: (lane: string) => boolean;
  /** Opens a lane that nobody here has asked for. */
  readonly keep: (lane: string, quota: StrictQuota) => void;
  readonly release: (lane: string) => void;
}

interface Shelved {
  readonly rows: LaneRows<string>;
  /** Offset of a join that nobody has answered; −1 = none. */
  joinAt: number;
  /** Own time of the next look. */
  lookMs: number;
}

interface Former {
  readonly rows: LaneRows<string>;
  readonly epoch: string;
  writtenMs: number;
}

/** Budgets of a former log that are looked at in one round. */
const WORDS = 200;
/** Milliseconds of silence after which rows of a lane are looked at. More: they stay longer. */
const QUIET_MS = 10_000;
/** Milliseconds by which nodes differ in that: one of them writes. */
const SPREAD_MS = 10_000;
/** Milliseconds between looks at a lane that has something to remember. */
const REST_LOOK_MS = 60_000;
/** The same of a budget: a period is over some time. */
const BUDGET_LOOK_MS = 3_600_000;
/** Milliseconds between looks at a lane for which something was written. */
const AGAIN_MS = 5000;
/** Milliseconds for which a lane is open that nobody has asked for. */
const KEPT_MS = 4 * EXPIRY_MS;
/** Lanes per look, and lanes that are open for their rows alone. */
const LOOKS = 512;
const KEPT_MAX = 64;
/** Milliseconds after which a join is answered from rows; nodes differ. Less: who has it open answers, too. */
const ANSWER_MS = 300;
const ANSWER_PART = 20;
/** Milliseconds by which the log's clock may be behind this estimate. */
const UNSURE_MS = 1000;

/**
 * Keeps rows of keyed lanes as text; ends those that nobody uses.
 *
 * A lane that is opened is known at once: from its rows; where there are none, nobody holds anything of it. That is so
 * once this log has been read for an expiry by anybody: else nodes may hold what a former log has granted.
 */
export class KeyedRows {
  readonly #parts: KeyedRowsParts;
  readonly #lanes = new Map<string, Shelved>();
  #next: IterableIterator<[string, Shelved]> = this.#lanes.entries();
  readonly #kept = new Map<string, number>();
  /** Budgets of a former log, until this one has them. */
  readonly #former = new Map<string, Former>();
  #epoch = '';
  #epochMs = Infinity;
  #liveFrom: number | null = null;
  #isSteady = false;
  #askedSteadyMs = -Infinity;
  #names = 0;

  constructor(parts: KeyedRowsParts) {
    this.#parts = parts;
  }

  /** Counts lanes of which the log has rows. */
  get size(): number {
    return this.#lanes.size;
  }

  has(lane: string): boolean {
    return this.#lanes.has(lane);
  }

  beginEpoch(epoch: string): void {
    for (const [lane, { rows }] of this.#lanes) {
      if (keyedQuotaOf(lane).budget && !this.#former.has(lane))
        this.#former.set(lane, { rows, epoch: this.#epoch, writtenMs: -Infinity });
    }
    this.#epoch = epoch;
    this.#epochMs = this.#parts.clock();
    this.#lanes.clear();
    this.#next = this.#lanes.entries();
    for (const lane of [...this.#kept.keys()]) this.#release(lane);
    this.#liveFrom = null;
    this.#isSteady = false;
  }

  /** @param offset of the last record read */
  caughtUp(offset: number): void {
    this.#liveFrom ??= offset;
  }

  /** True = lanes can be opened. */
  get isOpen(): boolean {
    return this.#liveFrom !== null && this.#isSteady;
  }

  /** Reads the record that the log was read for an expiry. */
  isSteadyRecord({ key, value }: ReadRecord): boolean {
    if (key !== steadyKeyOf(this.#parts.cluster)) return false;
    this.#isSteady ||= value !== null && Buffer.from(value).toString() === this.#epoch;
    return true;
  }

  /** Takes a record of a keyed lane. @param record its content; null = a deletion */
  read(lane: string, key: string, { offset, appendMs, value }: ReadRecord): void {
    const known = this.#lanes.get(lane);
    if (value === null) {
      known?.rows.deleted(key);
      return;
    }
    const shelved = known ?? { rows: new LaneRows<string>(), joinAt: -1, lookMs: 0 };
    if (known === undefined) this.#lanes.set(lane, shelved);
    const text = Buffer.from(value).toString('latin1');
    const nowMs = this.#parts.clock();
    const { rows } = shelved;
    rows.read({ key, offset, appendMs: Math.floor(appendMs), value: text }, nowMs);
    const spreadMs = spreadOf(`${this.#parts.node} ${lane}`);
    shelved.lookMs = nowMs + QUIET_MS + spreadMs;
    if (key.startsWith('join/')) shelved.joinAt = offset;
    else if (rows.checkpointAt >= shelved.joinAt) shelved.joinAt = -1;
    if (shelved.joinAt !== -1) shelved.lookMs = nowMs + ANSWER_MS + spreadMs / ANSWER_PART;
  }

  /** Tells a new bucket what the log says, once known. */
  tell(lane: string, bucket: StrictBucket): void {
    if (!this.isOpen) return;
    const rows = this.#lanes.get(lane)?.rows;
    const reads = rows?.reads(this.#decode) ?? [];
    if (rows !== undefined && !rows.isSure(this.#liveFrom as number)) bucket.learn(reads);
    else {
      const readMs = rows?.readMs ?? this.#parts.clock();
      bucket.know({ fold: (rows ?? NO_ROWS).fold(bucket.quota, this.#decode), rows: reads, readMs });
    }
  }

  /** Looks after the log and some lanes, every few milliseconds. */
  round(nowMs: number): void {
    if (this.#liveFrom === null) return;
    this.#tellFormer(nowMs);
    if (!this.#isSteady) {
      if (this.#former.size > 0) return;
      if (nowMs - this.#epochMs < ALL_ENDED_MS || nowMs - this.#askedSteadyMs < AGAIN_MS) return;
      this.#askedSteadyMs = nowMs;
      this.#parts.writeSteady(steadyKeyOf(this.#parts.cluster));
      return;
    }
    for (const [lane, sinceMs] of this.#kept) if (nowMs - sinceMs > KEPT_MS) this.#release(lane);
    for (let looked = Math.min(LOOKS, this.#lanes.size); looked > 0; looked--) {
      const next = this.#next.next();
      if (next.done === true) {
        this.#next = this.#lanes.entries();
        return;
      }
      const [lane, shelved] = next.value;
      if (shelved.lookMs <= nowMs) this.#look(lane, shelved, nowMs);
    }
  }

  /** Writes what was spent in a former log into this one. */
  #tellFormer(nowMs: number): void {
    let left = WORDS;
    for (const [lane, former] of this.#former) {
      if (left-- === 0) return;
      if (nowMs - former.writtenMs < AGAIN_MS) continue;
      const { budget } = former.rows.fold(keyedQuotaOf(lane), (row) => decodedIn(former.epoch, row));
      const known = this.#lanes.get(lane)?.rows.fold(keyedQuotaOf(lane), this.#decode).budget ?? null;
      if (budget === null || isUntold(budget) || (known !== null && known.former >= budget.gone)) {
        this.#former.delete(lane);
        continue;
      }
      former.writtenMs = nowMs;
      const { node, life } = this.#parts;
      this.#parts.write(lane, [{ kind: 'knew', node, life, budget }]);
    }
  }

  /** Takes the next step towards no rows, or one. */
  #look(lane: string, shelved: Shelved, nowMs: number): void {
    const { rows } = shelved;
    shelved.lookMs = nowMs + AGAIN_MS;
    if (rows.isEmpty) this.#lanes.delete(lane);
    else if (rows.replaced.length > 0) this.#delete(lane, rows.replaced);
    else if (this.#isInUse(lane)) return;
    else if (!rows.isSure(this.#liveFrom as number)) this.#keep(lane, nowMs);
    else if (shelved.joinAt !== -1) this.#writeState(lane, rows);
    else this.#tidy(lane, shelved, nowMs);
  }

  #tidy(lane: string, shelved: Shelved, nowMs: number): void {
    const { rows } = shelved;
    const { rows: written } = rows;
    const last = written[written.length - 1];
    const fold = rows.fold(keyedQuotaOf(lane), this.#decode);
    if (!fold.isAtRest) this.#keep(lane, nowMs);
    // An end that counts: what is before it goes first.
    else if (fold.isUnwritten && written.length > 1)
      this.#delete(
        lane,
        written.slice(0, -1).map(({ key }) => key),
      );
    else if (fold.isUnwritten) this.#delete(lane, [last.key]);
    else if (fold.isSpent(last.appendMs + nowMs - rows.readMs - UNSURE_MS)) {
      this.#parts.write(lane, [{ kind: 'end', at: last.offset, by: this.#nextName() }]);
    } else if (!rows.isWhole) this.#writeState(lane, rows);
    else shelved.lookMs = nowMs + (fold.budget === null ? REST_LOOK_MS : BUDGET_LOOK_MS);
  }

  #writeState(lane: string, rows: LaneRows<string>): void {
    const { node, life } = this.#parts;
    const { state } = rows.fold(keyedQuotaOf(lane), this.#decode);
    this.#parts.write(lane, [{ kind: 'state', node, life, at: rows.rows[rows.rows.length - 1].offset, state }]);
  }

  /** Tests if somebody here has asked for the lane. */
  #isInUse(lane: string): boolean {
    return this.#parts.isOpen(lane) && !this.#kept.has(lane);
  }

  /** Opens a lane until all who held anything have ended. */
  #keep(lane: string, nowMs: number): void {
    if (this.#kept.has(lane) || this.#kept.size >= KEPT_MAX) return;
    this.#kept.set(lane, nowMs);
    this.#parts.keep(lane, keyedQuotaOf(lane));
  }

  #release(lane: string): void {
    this.#kept.delete(lane);
    this.#parts.release(lane);
  }

  /** Takes a lane that is open for its rows alone. */
  take(lane: string): boolean {
    return this.#kept.delete(lane);
  }

  #delete(lane: string, keys: readonly string[]): void {
    this.#parts.write(
      lane,
      keys.map((key) => ({ kind: 'delete', key })),
    );
  }

  #nextName(): string {
    return `${this.#parts.node}/${this.#parts.life}/end-${++this.#names}`;
  }

  readonly #decode = (row: LaneRow<string>): StrictRead | null => decodedIn(this.#epoch, row);
}

function decodedIn(epoch: string, { offset, appendMs, value }: LaneRow<string>): StrictRead | null {
  const record = decodeStrict(Buffer.from(value, 'latin1'), epoch);
  return record === null ? null : { offset, appendMs, record };
}

const NO_ROWS = new LaneRows<string>();

function spreadOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0;
  return hash % SPREAD_MS;
}
