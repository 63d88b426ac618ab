import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { Clock } from '../../base/ports/clock.js';
import { DIMENSION_COUNT } from '../../core/base/vocabulary.js';
import type { Limiter } from '../../core/limiter/limiter.js';
import type { ServingLoop } from '../../core/machine/coordinator-view.js';
import type { GroupTable } from '../groups/group-table.js';
import { AssignedMembership } from './assigned-membership.js';
import { LaneParts } from './lane-parts.js';
import { type Counts, createPart, EnforcerMembership, type LaneMember, type Part } from './membership.js';

export interface EnforcersParts {
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly groups: GroupTable;
  readonly loop: ServingLoop;
  readonly shadows: {
    /** Charges work that enforcers admitted; returns true if the lane's own group is a shadow, and so charged. */
    admittedElsewhere(lane: number, messages: number, bytes: number, nowMs: number): boolean;
  };
}

interface EnforcerReport {
  readonly enforcer: string;
  readonly life: number;
  /** Milliseconds that its parts last without a report. */
  readonly ttlMs: number;
  /** All its lanes, each once; missing ones it has left. */
  readonly lanes: readonly LaneReport[];
}

interface LaneReport {
  readonly lane: number;
  /** Units since its life began. */
  readonly admitted: Counts;
  /** True = it has held work back since its last report. */
  readonly isHeldBack: boolean;
  /** Units that came since its life began; absent = it is not assigned its part, but asks several times a second. */
  readonly offered?: Counts;
  /** Topics of the group that it serves; absent = not counted. */
  readonly topics?: number;
}

/** Version of its last answer, and milliseconds it waits for another. */
interface Patience {
  readonly seen: number | null;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Keeps the enforcers of this node. The contract, for whatever way in:
 *
 * - Silence ends a part: valid for `ttlMs` from when the report was *sent*, given to others `ttlMs` after it arrived,
 *   so it never counts twice.
 * - A new limit mints nothing: the enforcer keeps its tokens, up to the new depth.
 * - What arrives late is charged late: counts are of the whole life, so no lost report loses any.
 * - Hidden demand is inferred: an enforcer reports that it holds work back, not how much.
 */
export class Enforcers {
  /** Reports with lower counts than the life had before. */
  lowerCounts = 0;
  readonly #parts: EnforcersParts;
  readonly #known = new Map<string, Enforcer>();
  readonly #lanes = new Map<number, LaneParts>();
  #turn: Iterator<LaneParts> = this.#lanes.values();
  #memberships = 0;
  #alive = 0;
  #isClosed = false;

  constructor(parts: EnforcersParts) {
    this.#parts = parts;
  }

  get alive(): number {
    return this.#alive;
  }

  /** Lists the first by arrival; silent ones are kept for their late counts. */
  list(most: number) {
    const nowMs = this.#parts.clock();
    return [...this.#known.values()].slice(0, most).map(({ name, life, isAlive, reportedMs, members }) => ({
      enforcer: name,
      life,
      alive: isAlive,
      silentMs: Math.round(nowMs - reportedMs),
      // Groups and directions, and those with held-back work.
      groups: members.size,
      heldBack: [...members.values()].filter(({ isHeldBack }) => isHeldBack).length,
    }));
  }

  inLane(lane: number): number {
    return this.#lanes.get(lane)?.members.size ?? 0;
  }

  /**
   * Takes a report, and resolves with the parts: once they differ from those `seen`, or after `waitMs`, at most ttlMs /
   * 3. Throws ENFORCER_REPLACED, ENFORCERS_FULL.
   */
  async report(report: EnforcerReport, { seen, waitMs, signal }: Patience): Promise<EnforcerAnswer> {
    const enforcer = this.#take(report, true);
    // A newer report ends the wait of the one before.
    enforcer.wake();
    if (seen === enforcer.version && !isMoved(enforcer) && waitMs > 0 && !signal.aborted && !this.#isClosed) {
      const untilMs = this.#parts.clock() + Math.min(waitMs, report.ttlMs / WAITS_PER_TTL);
      await enforcer.wait(untilMs, signal);
      const newer = this.#known.get(report.enforcer);
      if (newer !== undefined && newer.life > report.life) throw replacedBy(newer, report.life);
    }
    return answer(enforcer, report);
  }

  /**
   * Takes a report of one that is assigned its parts (assigned-membership.ts): of some lanes; the others stay. Throws as
   * `report`.
   */
  reportSome(report: EnforcerReport): void {
    this.#take(report, false);
  }

  /** Returns the part that a lane would be assigned now; unknown where it has none. */
  partOf(name: string, lane: number): Part {
    return this.#assigned(name, lane)?.part ?? UNKNOWN;
  }

  /** Assigns the part of a lane as it is now. @param isAnew its bucket is made now, and begins full */
  assign(name: string, lane: number, isAnew: boolean): Part {
    const member = this.#assigned(name, lane);
    if (member === null) return UNKNOWN;
    if (isAnew) member.answered.depth.fill(0);
    this.#lanes.get(lane)?.assign(member, this.#parts.clock());
    return member.answered;
  }

  #assigned(name: string, lane: number): AssignedMembership | null {
    const member = this.#known.get(name)?.members.get(lane);
    return member instanceof AssignedMembership && this.#isOf(member, lane) ? member : null;
  }

  /** Tests if the lane is still that group's; its number may have become another key's. */
  #isOf(member: LaneMember, lane: number): boolean {
    return member.group === this.#parts.groups.ofLane(lane).name;
  }

  /** Gives the part of a lane back. */
  leave(name: string, lane: number): void {
    const enforcer = this.#known.get(name);
    const member = enforcer?.members.get(lane);
    if (enforcer !== undefined && member !== undefined) this.#leave(enforcer, member);
  }

  /** Gives all parts back at once: it is gone. */
  end(name: string): void {
    const enforcer = this.#known.get(name);
    if (enforcer !== undefined) this.#forget(enforcer);
  }

  /** Ends silent parts and charges admissions; once a round. */
  keep(nowMs: number): void {
    if (this.#known.size === 0) return;
    for (const enforcer of this.#known.values()) {
      if (enforcer.isAlive && nowMs - enforcer.reportedMs > enforcer.ttlMs) this.#silence(enforcer);
      else if (!enforcer.isAlive && nowMs - enforcer.reportedMs > REMEMBERED_MS) this.#forget(enforcer);
    }
    this.#updateInTurn(nowMs);
    for (const enforcer of this.#known.values()) {
      if (enforcer.waitsUntilMs !== null && (nowMs >= enforcer.waitsUntilMs || isMoved(enforcer))) enforcer.wake();
    }
  }

  /** Updates all lanes, or in turns where they are many. */
  #updateInTurn(nowMs: number): void {
    const count = Math.min(LANES_PER_ROUND, this.#lanes.size);
    for (let updated = 0; updated < count; updated++) {
      let next = this.#turn.next();
      if (next.done) {
        this.#turn = this.#lanes.values();
        next = this.#turn.next();
      }
      next.value?.update(nowMs);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const enforcer of this.#known.values()) enforcer.wake();
  }

  #take(report: EnforcerReport, isWhole: boolean): Enforcer {
    const { clock, loop } = this.#parts;
    const nowMs = clock();
    const enforcer = this.#enforcerOf(report);
    const missing = report.lanes.filter(({ lane }) => !enforcer.members.has(lane)).length;
    this.#makeRoom(missing, enforcer);
    if (!enforcer.isAlive) this.#alive++;
    enforcer.isAlive = true;
    enforcer.reportedMs = nowMs;
    enforcer.ttlMs = report.ttlMs;
    const named = new Set<number>();
    const joined = new Set<number>();
    let isLower = false;
    for (const one of report.lanes) {
      named.add(one.lane);
      loop.serve(one.lane);
      const taken = this.#takeLane(enforcer, one, nowMs);
      if (taken.hasJoined) joined.add(one.lane);
      isLower ||= taken.isLower;
    }
    if (isLower) this.lowerCounts++;
    for (const member of isWhole ? enforcer.members.values() : []) {
      if (!named.has(member.lane)) this.#leave(enforcer, member);
    }
    for (const lane of named) {
      const parts = this.#lanes.get(lane);
      if (parts !== undefined && (joined.has(lane) || parts.isDue(nowMs))) parts.update(nowMs);
    }
    return enforcer;
  }

  #enforcerOf({ enforcer: name, life }: EnforcerReport): Enforcer {
    const known = this.#known.get(name);
    if (known !== undefined && known.life !== life) {
      if (known.isAlive && life < known.life) throw replacedBy(known, life);
      this.#forget(known);
    } else if (known !== undefined) {
      return known;
    }
    if (this.#known.size >= ENFORCERS_MAX) this.#forgetSilent();
    if (this.#known.size >= ENFORCERS_MAX) throw fullOf(`${ENFORCERS_MAX} enforcers`, name);
    const enforcer = new Enforcer(name, life);
    this.#known.set(name, enforcer);
    return enforcer;
  }

  #makeRoom(missing: number, asking: Enforcer): void {
    if (this.#memberships + missing > MEMBERSHIPS_MAX) this.#forgetSilent(asking);
    if (this.#memberships + missing <= MEMBERSHIPS_MAX) return;
    if (!asking.isAlive) this.#forget(asking);
    throw fullOf(`${MEMBERSHIPS_MAX} groups and directions of enforcers`, asking.name);
  }

  #takeLane(enforcer: Enforcer, { lane, admitted, isHeldBack, offered, topics = 0 }: LaneReport, nowMs: number) {
    let parts = this.#lanes.get(lane);
    if (parts === undefined) {
      parts = new LaneParts(lane, this.#parts);
      this.#lanes.set(lane, parts);
      this.#parts.limiter.enforced.set(lane, nowMs);
    }
    const member: LaneMember = this.#memberOf(enforcer, lane) ?? this.#join(enforcer, lane, admitted, offered, nowMs);
    const isLower = member.take(admitted, isHeldBack, nowMs, offered);
    this.#countTopics(member, topics);
    // After a silence it is in none of the lanes.
    const hasJoined = !parts.members.has(member);
    parts.members.add(member);
    return { isLower, hasJoined };
  }

  /** Returns the membership; a lane's number may have become another key's. */
  #memberOf(enforcer: Enforcer, lane: number): LaneMember | null {
    const known = enforcer.members.get(lane) ?? null;
    if (known === null || this.#isOf(known, lane)) return known;
    this.#leave(enforcer, known);
    return null;
  }

  #join(enforcer: Enforcer, lane: number, counts: Counts, offered: Counts | undefined, nowMs: number): LaneMember {
    const { name } = this.#parts.groups.ofLane(lane);
    const member: LaneMember =
      offered === undefined
        ? new EnforcerMembership(lane, name, counts, nowMs)
        : new AssignedMembership(lane, name, nowMs);
    enforcer.members.set(lane, member);
    this.#memberships++;
    return member;
  }

  /** Gives its parts to others; keeps its counts, so that later ones are charged. */
  #silence(enforcer: Enforcer): void {
    enforcer.isAlive = false;
    enforcer.version++;
    this.#alive--;
    for (const member of enforcer.members.values()) this.#depart(member);
    enforcer.wake();
  }

  #countTopics(member: LaneMember, topics: number): void {
    this.#parts.limiter.topics.addElsewhere(member.lane, topics - member.topics);
    member.topics = topics;
  }

  #depart(member: LaneMember): void {
    member.isHeldBack = false;
    this.#countTopics(member, 0);
    member.usage.fill(0);
    member.demand.fill(0);
    member.answered.isKnown = false;
    const parts = this.#lanes.get(member.lane);
    if (parts?.members.delete(member) !== true || parts.members.size > 0) return;
    this.#lanes.delete(member.lane);
    this.#parts.limiter.heldBackElsewhere.delete(member.lane);
    this.#parts.limiter.wantedElsewhere.delete(member.lane);
    this.#parts.limiter.enforced.delete(member.lane);
  }

  #leave(enforcer: Enforcer, member: LaneMember): void {
    this.#depart(member);
    enforcer.members.delete(member.lane);
    this.#memberships--;
  }

  #forget(enforcer: Enforcer): void {
    for (const member of enforcer.members.values()) this.#leave(enforcer, member);
    if (enforcer.isAlive) this.#alive--;
    enforcer.isAlive = false;
    enforcer.wake();
    if (this.#known.get(enforcer.name) === enforcer) this.#known.delete(enforcer.name);
  }

  #forgetSilent(but: Enforcer | null = null): void {
    for (const enforcer of this.#known.values()) if (!enforcer.isAlive && enforcer !== but) this.#forget(enforcer);
  }
}

function replacedBy({ name: enforcer, life: newer }: Enforcer, life: number): QuotameshError {
  return new QuotameshError('ENFORCER_REPLACED', { enforcer, life, newer });
}

function fullOf(what: string, enforcer: string): QuotameshError {
  return new QuotameshError('ENFORCERS_FULL', { what, enforcer });
}

export interface EnforcerAnswer {
  /** Differs wherever the parts do. */
  readonly version: number;
  readonly validMs: number;
  /** In the order of the report's lanes. */
  readonly parts: readonly Part[];
}

function answer(enforcer: Enforcer, { lanes, ttlMs }: EnforcerReport): EnforcerAnswer {
  if (isMoved(enforcer)) enforcer.version++;
  const parts = lanes.map(({ lane }) => {
    const member = enforcer.members.get(lane);
    if (member === undefined) return UNKNOWN;
    const { answered, part } = member;
    answered.isKnown = part.isKnown;
    answered.rate.set(part.rate);
    answered.depth.set(part.depth);
    return answered;
  });
  return { version: enforcer.version, validMs: ttlMs, parts };
}

/** Part of a lane that is gone: the enforcer left it, or its life was replaced, while its report waited. */
const UNKNOWN = createPart();

class Enforcer {
  readonly name: string;
  readonly life: number;
  readonly members = new Map<number, LaneMember>();
  isAlive = false;
  reportedMs = 0;
  ttlMs = 0;
  version = 0;
  waitsUntilMs: number | null = null;
  #resolve: (() => void) | null = null;

  constructor(name: string, life: number) {
    this.name = name;
    this.life = life;
  }

  wait(untilMs: number, signal: AbortSignal): Promise<void> {
    this.waitsUntilMs = untilMs;
    return new Promise((resolve) => {
      const end = () => {
        signal.removeEventListener('abort', end);
        if (this.#resolve === end) {
          this.#resolve = null;
          this.waitsUntilMs = null;
        }
        resolve();
      };
      this.#resolve = end;
      signal.addEventListener('abort', end);
    });
  }

  wake(): void {
    this.#resolve?.();
  }
}

/** Tests if a part has changed by more than noise. */
function isMoved({ members }: Enforcer): boolean {
  for (const { part, answered } of members.values()) {
    if (part.isKnown !== answered.isKnown) return true;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const [now, before] = [part.rate[dimension], answered.rate[dimension]];
      // Beside no limit at all, every limit is within some percent.
      if (now === before) continue;
      if (before === Infinity || !(Math.abs(now - before) <= MOVED_RATIO * before)) return true;
    }
  }
  return false;
}

/** Part of change that is noise: data planes lose some tokens at every change. */
const MOVED_RATIO = 0.02;
/** Parts of ttlMs: a report that waited one leaves two thirds for the next. */
const WAITS_PER_TTL = 3;
/** Milliseconds; late counts come within minutes or not at all. */
const REMEMBERED_MS = 600_000;
const ENFORCERS_MAX = 1000;
/** Memberships at most, 2 to 3.4 kB each. */
const MEMBERSHIPS_MAX = 20_000;
/** Lanes per round, 0.7 to 1.4 µs each; more take all lanes sooner, and more of a core. */
const LANES_PER_ROUND = 500;
