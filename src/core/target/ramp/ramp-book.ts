import type { Author, GroupStateRecord } from '../../base/protocol/record.js';
import type { GroupSettings, RampSettings } from '../../base/settings.js';
import type { Incarnation, NodeKey } from '../../base/vocabulary.js';
import { type LogTime, stepLimitMs } from '../../log/log-time.js';
import { LaneEnds } from './lane-ends.js';
import { slopeOf } from './ramp.js';
import { rampTop } from './ramp-of.js';

/** The newest ceiling of a lane as the log says it. */
export interface RampCeiling {
  readonly ceiling: number;
  /** Log time of the group's partition at which it held. */
  readonly sinceLogMs: number;
  /** `sinceLogMs` by the clock that counts absences whole; see LogTime. */
  readonly sinceSpanMs: number;
  readonly timeToLiveMs: number;
  readonly author: Author;
  /** Log time and offset of its record. */
  readonly recordLogMs: number;
  readonly offset: number;
  /** When a newcomer takes it for ended, by `wholeMs` of LogTime. */
  readonly wholeUntilMs: number;
}

/** Ceiling of a ramp when its log was replaced. */
export interface CarriedCeiling {
  readonly ceiling: number;
  /** Log time for which the ceiling had held. */
  readonly heldMs: number;
  readonly timeToLiveMs: number;
}

/** A ceiling that rests is written this many times within its time to live. */
export const RENEWALS = 4;

/** Ceilings that are remembered of one log: both directions of 100,000 groups, about 200 bytes each. */
const CEILINGS_MAX = 200_000;

/** Progress of reading a partition. */
export type LogProgress = Pick<LogTime, 'ms' | 'spanMs' | 'wholeMs' | 'appendMs'>;

/**
 * Keeps the ceilings of a partition's ramps as a function of its log: the newest GROUP_STATE of a lane counts, whoever
 * wrote it, until nobody has renewed it for its time to live. So a ceiling outlives restarts, and all nodes that have
 * read as far know the same one. Between records only a scheduled ramp moves, with log time.
 */
export class RampBook {
  readonly #onChanged: (mapLane: number) => void;
  /** Log time of one step of the log's clock is at most this (LogTime). */
  readonly #stepLimitMs: number;
  readonly #ceilings = new Map<number, RampCeiling>();
  /** Ceilings of earlier logs, each until this log says one for the lane; at most CEILINGS_MAX. */
  readonly #carried = new Map<number, CarriedCeiling>();
  #logMs = 0;
  #spanMs = 0;
  #appendMs = 0;
  #nextOffset = 0;
  #wholeMs = 0;
  /** When each is forgotten, by `spanMs`. */
  readonly #ceilingEnds = new LaneEnds();
  readonly #carriedEnds = new LaneEnds();
  /** When newcomers take each for ended, by `wholeMs`. */
  readonly #hiddenEnds = new LaneEnds();

  constructor(heartbeatMs: number, onChanged: (mapLane: number) => void) {
    this.#stepLimitMs = stepLimitMs(heartbeatMs);
    this.#onChanged = onChanged;
  }

  /** Log time of the partition, ms. */
  get logMs(): number {
    return this.#logMs;
  }

  /** The newest record read: its append time (0 = none yet), and the offset after it. */
  get readUntil(): { readonly readUntilMs: number; readonly readUntilOffset: number } {
    return { readUntilMs: this.#appendMs, readUntilOffset: this.#nextOffset };
  }

  /** Called when another log begins. The nodes that use a ramp write into that log how far the ramp was. */
  forgetAll(): void {
    for (const [mapLane, { ceiling, sinceLogMs, timeToLiveMs }] of this.#ceilings) {
      if (this.#carried.size >= CEILINGS_MAX && !this.#carried.has(mapLane)) continue;
      this.#carried.set(mapLane, { ceiling, heldMs: this.#logMs - sinceLogMs, timeToLiveMs });
    }
    this.#ceilings.clear();
    this.#logMs = 0;
    this.#spanMs = 0;
    this.#wholeMs = 0;
    this.#appendMs = 0;
    this.#nextOffset = 0;
    for (const ends of [this.#ceilingEnds, this.#carriedEnds, this.#hiddenEnds]) ends.clear();
    for (const [mapLane, { timeToLiveMs }] of this.#carried) this.#carriedEnds.move(mapLane, timeToLiveMs);
  }

  /**
   * The ceiling of an earlier log; undefined once this log says one itself, or has gone on for the ceiling's time to
   * live, or for that of the ramp.
   */
  carriedOf(mapLane: number, ramp: RampSettings): CarriedCeiling | undefined {
    return this.#spanMs > ramp.timeToLiveMs ? undefined : this.#carried.get(mapLane);
  }

  /**
   * The log has been read up to there; ceilings that nobody renewed are forgotten.
   * @returns the lanes whose ceilings newcomers take for ended, each once per record of a ceiling
   */
  advanceTo({ ms: logMs, spanMs, wholeMs, appendMs }: LogProgress, nextOffset: number): readonly number[] {
    this.#appendMs = appendMs;
    this.#nextOffset = nextOffset;
    this.#logMs = logMs;
    this.#spanMs = spanMs;
    this.#wholeMs = wholeMs;
    this.#forget();
    return this.#endedForNewcomers();
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
   * A newcomer counts all of the time between two records, because it cannot know that a node ran between them
   * (`spanMs`). Those that ran have not counted an outage of the log, or a step of its clock.
   */
  #endedForNewcomers(): readonly number[] {
    return this.#hiddenEnds.takeBefore(this.#wholeMs, (mapLane) => this.#ceilings.get(mapLane)?.wholeUntilMs);
  }

  /**
   * A ceiling holds from the offset up to which its writer had read, not from that of its record: otherwise a rising
   * line would lose the time between the two with every record.
   *
   * A ceiling is outdated if its writer had not read the last one: its record waited for a slow topic, or several nodes
   * wrote a first ceiling. Such a record counts all the same once the last ceiling is overdue to be renewed, so that a
   * lane never depends on a writer that has stopped.
   */
  apply(mapLane: number, record: GroupStateRecord): 'applied' | 'repeated' | 'outdated' | 'too-many-levels' {
    const { author, ceiling } = record;
    const known = this.#ceilings.get(mapLane);
    if (known !== undefined && isOlder(author, known.author)) return 'repeated';
    if (known === undefined && this.#ceilings.size >= CEILINGS_MAX) return 'too-many-levels';
    if (known !== undefined && this.#isUnknownTo(record, known)) {
      // The same step, written by two: newcomers find the later record, and count from there.
      if (ceiling === known.ceiling) this.#keep(mapLane, record, known.sinceLogMs);
      return 'outdated';
    }
    this.#carried.delete(mapLane);
    this.#keep(mapLane, record, this.#logMs - this.#travelMs(record, known) - record.lateMs);
    if (known?.ceiling !== ceiling) this.#onChanged(mapLane);
    return 'applied';
  }

  #keep(mapLane: number, { author, ceiling, timeToLiveMs }: GroupStateRecord, sinceLogMs: number): void {
    const at = { recordLogMs: this.#logMs, offset: this.#nextOffset - 1, sinceSpanMs: this.#spanMs };
    const wholeUntilMs = this.#wholeMs + timeToLiveMs;
    this.#ceilings.set(mapLane, { ceiling, sinceLogMs, timeToLiveMs, author, wholeUntilMs, ...at });
    this.#ceilingEnds.move(mapLane, this.#spanMs + timeToLiveMs);
    this.#hiddenEnds.move(mapLane, wholeUntilMs);
  }

  #isUnknownTo({ readUntilOffset }: GroupStateRecord, known: RampCeiling): boolean {
    if (known.offset < readUntilOffset) return false;
    return this.#logMs - known.recordLogMs <= known.timeToLiveMs / RENEWALS;
  }

  /**
   * Log time from what the writer had read to its record: the time between the two, but no more than log time has gone
   * on since the last ceiling, which it had read; a newcomer without that counts one step of the log's clock at most.
   */
  #travelMs({ readUntilMs }: GroupStateRecord, known: RampCeiling | undefined): number {
    if (readUntilMs === 0) return 0;
    const limitMs = known === undefined ? this.#stepLimitMs : this.#logMs - known.recordLogMs;
    return Math.min(Math.max(0, this.#appendMs - readUntilMs), limitMs);
  }

  /** The newest life of a node among the authors of ceilings, 0 without one. Its next life has to be newer. */
  newestLifeOf(nodeKey: NodeKey): Incarnation {
    let newest = 0;
    for (const { author } of this.#ceilings.values()) {
      if (author.nodeKey === nodeKey && author.incarnation > newest) newest = author.incarnation;
    }
    return newest;
  }

  /** Tests if a ceiling of this lane is remembered, of this log or of an earlier one. */
  has(mapLane: number): boolean {
    return this.#ceilings.has(mapLane) || this.#carried.has(mapLane);
  }

  /** The newest ceiling, whatever the settings of its group; undefined if it has ended by its record. */
  newestOf(mapLane: number): RampCeiling | undefined {
    return this.#ceilings.get(mapLane);
  }

  /**
   * The newest ceiling; undefined if nobody has used the ramp, or not for the time to live in the ceiling's record. A
   * ceiling never outlives the ramp's own time to live, because a stranger may write any number into a record.
   */
  get(mapLane: number, ramp: RampSettings): RampCeiling | undefined {
    const known = this.#ceilings.get(mapLane);
    return known === undefined || this.ageMs(known) > ramp.timeToLiveMs ? undefined : known;
  }

  /** Time since the newest record of a lane, absences counted whole; tells when it has to be renewed. */
  ageMs({ sinceSpanMs }: RampCeiling): number {
    return this.#spanMs - sinceSpanMs;
  }

  /** The ceiling in force, messages/s; Infinity where the direction has no ramp. */
  ceilingOf(settings: GroupSettings, direction: number, mapLane: number): number {
    const { ramp } = settings;
    const top = rampTop(settings, direction);
    if (ramp === null || top === null) return Infinity;
    const known = this.get(mapLane, ramp);
    if (known === undefined) return Math.min(top, ramp.fromPerSecond);
    const held = Math.min(top, Math.max(ramp.fromPerSecond, known.ceiling));
    if (ramp.mode !== 'scheduled') return held;
    const elapsedSeconds = Math.max(0, this.#logMs - known.sinceLogMs) / 1000;
    return Math.min(top, held + slopeOf(ramp, top) * elapsedSeconds);
  }

  /**
   * Tests if the ceiling changes with log time alone: it rises, or ends by the ramp's time to live earlier than by its
   * record's.
   */
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

/** Records of one life of one node are ordered by their sequence, those of others by the log alone. */
function isOlder({ nodeKey, incarnation, sequence }: Author, known: Author): boolean {
  if (nodeKey !== known.nodeKey) return false;
  if (incarnation !== known.incarnation) return incarnation < known.incarnation;
  return sequence <= known.sequence;
}
