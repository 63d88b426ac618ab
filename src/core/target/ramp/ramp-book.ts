import { type Author, type GroupStateRecord, isOlder, newestLifeAmong } from '../../base/protocol/record.js';
import type { GroupSettings, RampSettings } from '../../base/settings.js';
import type { Incarnation, NodeKey } from '../../base/vocabulary.js';
import { type LogTime, stepLimitMs } from '../../log/log-time.js';
import { CEILINGS_MAX, RENEWALS } from '../constants/constants.js';
import { LaneEnds } from './lane-ends.js';
import { slopeOf } from './ramp.js';
import { rampTop } from './ramp-of.js';

/** Newest ceiling of a lane by the log. */
export interface RampCeiling {
  readonly ceiling: number;
  /** Log time of the group's partition since which the ceiling holds. */
  readonly sinceLogMs: number;
  /** Span time (LogTime) at the ceiling's record. */
  readonly sinceSpanMs: number;
  readonly timeToLiveMs: number;
  readonly author: Author;
  /** Log time and offset of its record. */
  readonly recordLogMs: number;
  readonly offset: number;
  /** `wholeMs` (LogTime) at which a newcomer counts the ceiling as ended. */
  readonly wholeUntilMs: number;
}

/** Ceiling of a ramp when its log was replaced. */
export interface CarriedCeiling {
  readonly ceiling: number;
  /** Log time for which the ceiling had held. */
  readonly heldMs: number;
  readonly timeToLiveMs: number;
}

export type LogProgress = Pick<LogTime, 'ms' | 'spanMs' | 'wholeMs' | 'appendMs'>;

/**
 * Keeps the ceilings of a partition's ramps by its log. The newest GROUP_STATE of a lane counts, by any author, until
 * its time to live passes without a renewal. So a ceiling outlives restarts, and all nodes that have read equally far
 * keep the same one. Between records only a scheduled ramp moves, with log time.
 */
export class RampBook {
  readonly #onChanged: (mapLane: number) => void;
  /** Most log time of one step of the log's clock (LogTime). */
  readonly #stepLimitMs: number;
  readonly #ceilings = new Map<number, RampCeiling>();
  /** Ceilings of earlier logs, until this log names the lane's; at most CEILINGS_MAX. */
  readonly #carried = new Map<number, CarriedCeiling>();
  logMs = 0;
  #spanMs = 0;
  #appendMs = 0;
  #nextOffset = 0;
  #wholeMs = 0;
  /** Ends of ceilings, by `spanMs`. */
  readonly #ceilingEnds = new LaneEnds();
  readonly #carriedEnds = new LaneEnds();
  /** Ends of ceilings for newcomers, by `wholeMs`. */
  readonly #hiddenEnds = new LaneEnds();

  constructor(heartbeatMs: number, onChanged: (mapLane: number) => void) {
    this.#stepLimitMs = stepLimitMs(heartbeatMs);
    this.#onChanged = onChanged;
  }

  /** Append time of the newest record (0 = none), and next offset. */
  get readUntil(): { readonly readUntilMs: number; readonly readUntilOffset: number } {
    return { readUntilMs: this.#appendMs, readUntilOffset: this.#nextOffset };
  }

  /** Carries the ceilings over, because another log begins. The nodes that use a ramp write its progress there. */
  forgetAll(): void {
    for (const [mapLane, { ceiling, sinceLogMs, timeToLiveMs }] of this.#ceilings) {
      if (this.#carried.size >= CEILINGS_MAX && !this.#carried.has(mapLane)) continue;
      this.#carried.set(mapLane, { ceiling, heldMs: this.logMs - sinceLogMs, timeToLiveMs });
    }
    this.#ceilings.clear();
    this.logMs = 0;
    this.#spanMs = 0;
    this.#wholeMs = 0;
    this.#appendMs = 0;
    this.#nextOffset = 0;
    for (const ends of [this.#ceilingEnds, this.#carriedEnds, this.#hiddenEnds]) ends.clear();
    for (const [mapLane, { timeToLiveMs }] of this.#carried) this.#carriedEnds.move(mapLane, timeToLiveMs);
  }

  /**
   * Finds a lane's ceiling of an earlier log. Undefined once this log names one, or has gone on for the time to live of
   * the ceiling or of the ramp.
   */
  carriedOf(mapLane: number, ramp: RampSettings): CarriedCeiling | undefined {
    return this.#spanMs > ramp.timeToLiveMs ? undefined : this.#carried.get(mapLane);
  }

  /**
   * Advances the log, and forgets ceilings that nobody renewed.
   * @returns the lanes whose ceilings newcomers count as ended, each once per record of a ceiling
   */
  advanceTo({ ms: logMs, spanMs, wholeMs, appendMs }: LogProgress, nextOffset: number): readonly number[] {
    this.#appendMs = appendMs;
    this.#nextOffset = nextOffset;
    this.logMs = logMs;
    this.#spanMs = spanMs;
    this.#wholeMs = wholeMs;
    this.#forget();
    // A newcomer counts an outage of the log, or a step of its clock, as time in which no node ran.
    return this.#hiddenEnds.takeBefore(wholeMs, (mapLane) => this.#ceilings.get(mapLane)?.wholeUntilMs);
  }

  #forget(): void {
    const spanMs = this.#spanMs;
    for (const mapLane of this.#carriedEnds.takeBefore(spanMs, (lane) => this.#carried.get(lane)?.timeToLiveMs))
      this.#carried.delete(mapLane);
    const endOf = (lane: number) => {
      const known = this.#ceilings.get(lane);
      return known && known.sinceSpanMs + known.timeToLiveMs;
    };
    for (const mapLane of this.#ceilingEnds.takeBefore(spanMs, endOf)) {
      this.#ceilings.delete(mapLane);
      this.#onChanged(mapLane);
    }
  }

  /**
   * Applies a ceiling. It holds from the offset that its writer had read: by the record's own offset, a rising line
   * would lose the time between the two with every record.
   *
   * A ceiling is outdated if its writer had not read the last one: its record waited for a slow topic, or several nodes
   * wrote a first ceiling. It counts all the same once the last ceiling is overdue for renewal, so that a lane never
   * depends on a writer that has stopped.
   */
  apply(mapLane: number, record: GroupStateRecord): 'applied' | 'repeated' | 'outdated' | 'too-many-levels' {
    const { author, ceiling } = record;
    const known = this.#ceilings.get(mapLane);
    if (known !== undefined && isOlder(author, known.author)) return 'repeated';
    if (known === undefined && this.#ceilings.size >= CEILINGS_MAX) return 'too-many-levels';
    if (known !== undefined && this.#isUnknownTo(record, known)) {
      // Two nodes wrote the same step: newcomers find the later record, and count from there.
      if (ceiling === known.ceiling) this.#keep(mapLane, record, known.sinceLogMs);
      return 'outdated';
    }
    this.#carried.delete(mapLane);
    this.#keep(mapLane, record, this.logMs - this.#travelMs(record, known) - record.lateMs);
    if (known?.ceiling !== ceiling) this.#onChanged(mapLane);
    return 'applied';
  }

  #keep(mapLane: number, { author, ceiling, timeToLiveMs }: GroupStateRecord, sinceLogMs: number): void {
    const at = { recordLogMs: this.logMs, offset: this.#nextOffset - 1, sinceSpanMs: this.#spanMs };
    const wholeUntilMs = this.#wholeMs + timeToLiveMs;
    this.#ceilings.set(mapLane, { ceiling, sinceLogMs, timeToLiveMs, author, wholeUntilMs, ...at });
    this.#ceilingEnds.move(mapLane, this.#spanMs + timeToLiveMs);
    this.#hiddenEnds.move(mapLane, wholeUntilMs);
  }

  #isUnknownTo({ readUntilOffset }: GroupStateRecord, known: RampCeiling): boolean {
    if (known.offset < readUntilOffset) return false;
    return this.logMs - known.recordLogMs <= known.timeToLiveMs / RENEWALS;
  }

  /**
   * Bounds the log time between the writer's reading and its record: at most the log time since the last ceiling, which
   * the writer had read. A newcomer without that ceiling counts one step of the log's clock at most.
   */
  #travelMs({ readUntilMs }: GroupStateRecord, known: RampCeiling | undefined): number {
    if (readUntilMs === 0) return 0;
    const limitMs = known === undefined ? this.#stepLimitMs : this.logMs - known.recordLogMs;
    return Math.min(Math.max(0, this.#appendMs - readUntilMs), limitMs);
  }

  newestLifeOf(nodeKey: NodeKey): Incarnation {
    return newestLifeAmong(this.#ceilings.values(), nodeKey);
  }

  /** Tests if a ceiling of this lane is remembered, of any log. */
  has(mapLane: number): boolean {
    return this.#ceilings.has(mapLane) || this.#carried.has(mapLane);
  }

  /** Finds the newest ceiling by its own time to live; undefined = ended. */
  newestOf(mapLane: number): RampCeiling | undefined {
    return this.#ceilings.get(mapLane);
  }

  /**
   * Finds the newest ceiling within both times to live. The ramp's bounds the record's, because a stranger may write
   * any number into a record.
   */
  get(mapLane: number, ramp: RampSettings): RampCeiling | undefined {
    const known = this.#ceilings.get(mapLane);
    return known === undefined || this.ageMs(known) > ramp.timeToLiveMs ? undefined : known;
  }

  /** Returns the span time since a ceiling's newest record. Renewals are due by it. */
  ageMs({ sinceSpanMs }: RampCeiling): number {
    return this.#spanMs - sinceSpanMs;
  }

  /** Computes the ceiling in force, messages/s; Infinity = no ramp. */
  ceilingOf(settings: GroupSettings, direction: number, mapLane: number): number {
    const { ramp } = settings;
    const top = rampTop(settings, direction);
    if (ramp === null || top === null) return Infinity;
    const known = this.get(mapLane, ramp);
    if (known === undefined) return Math.min(top, ramp.fromPerSecond);
    const held = Math.min(top, Math.max(ramp.fromPerSecond, known.ceiling));
    if (ramp.mode !== 'scheduled') return held;
    const elapsedSeconds = Math.max(0, this.logMs - known.sinceLogMs) / 1000;
    return Math.min(top, held + slopeOf(ramp, top) * elapsedSeconds);
  }

  /** Tests if the ceiling changes with log time alone: it rises, or the ramp's time to live ends it first. */
  isMoving(settings: GroupSettings, direction: number, mapLane: number): boolean {
    const { ramp } = settings;
    if (ramp === null) return false;
    const known = this.get(mapLane, ramp);
    if (known === undefined) return false;
    if (known.timeToLiveMs > ramp.timeToLiveMs) return true;
    return (
      ramp.mode === 'scheduled' && this.ceilingOf(settings, direction, mapLane) < (rampTop(settings, direction) ?? 0)
    );
  }
}
