import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { MESSAGES } from '../../../core/base/vocabulary.js';
import type { Enforcers } from '../../../node/enforcers/enforcers.js';
import type { Part } from '../../../node/enforcers/membership.js';
import { type Assignment, assignmentOf, isMoved, isTooShallow, type Share } from './assignment.js';
import { Bucket, GAP_KEPT, LaneUse, type Target } from './bucket.js';
import { type BucketId, idProblem, textOf } from './bucket-id.js';

/** One entry of a report: what came in a bucket since the last report. */
export interface BucketUsage {
  readonly id: BucketId;
  readonly allowed: number;
  readonly denied: number;
}

/** An answer for one bucket; null = forget it. */
export interface BucketAction {
  readonly id: BucketId;
  readonly assignment: Assignment | null;
}

export interface BookParts {
  readonly enforcers: Pick<Enforcers, 'reportSome' | 'partOf' | 'assign' | 'leave' | 'end'>;
  /** Name of the stream among the enforcers, and its life. */
  readonly enforcer: string;
  readonly life: number;
  readonly targetOf: (id: BucketId) => Target;
  readonly bucketsMax: number;
}

/**
 * Keeps the buckets of one stream: what was reported of each, what it was told, and what is due to be told.
 *
 *     a report      counts of what came since the one before → usage and demand of the buckets' lanes
 *     actions       a bucket is told its share at once when it is new, when the share has moved, and before it ends
 */
export class BucketBook {
  /** Buckets of the last report that are told nothing, by reason. */
  readonly refused = new Map<string, number>();
  readonly #parts: BookParts;
  readonly #buckets = new Map<string, Bucket>();
  readonly #lanes = new Map<number, LaneUse>();
  #turn: Iterator<Bucket> = this.#buckets.values();
  #reportedMs = -Infinity;
  /** Longest time between reports lately. */
  #gapMs = 0;

  constructor(parts: BookParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Begins a report, whose entries may come in parts. */
  begin(nowMs: number): void {
    if (this.#reportedMs > -Infinity) this.#gapMs = Math.max(nowMs - this.#reportedMs, GAP_KEPT * this.#gapMs);
    this.#reportedMs = nowMs;
    this.refused.clear();
  }

  /** Takes entries; returns what their buckets are told. Throws ENFORCER_REPLACED. */
  report(usages: readonly BucketUsage[], nowMs: number): BucketAction[] {
    const named: Bucket[] = [];
    const touched = new Set<LaneUse>();
    for (const usage of usages) {
      const bucket = this.#bucketOf(usage.id, nowMs);
      if (bucket === null) continue;
      this.#aim(bucket);
      this.#count(bucket, usage, nowMs);
      named.push(bucket);
      if (bucket.use !== null) touched.add(bucket.use);
    }
    this.#tell(touched);
    return this.#actionsOf(named, nowMs);
  }

  /** Reports lanes; where the node is full, those that it has, and the others' buckets are told nothing. */
  #tell(uses: ReadonlySet<LaneUse>): void {
    const { enforcer, life, enforcers } = this.#parts;
    const report = (lanes: readonly LaneUse[]) => {
      enforcers.reportSome({ enforcer, life, ttlMs: this.#patienceMs + TTL_MS, lanes: lanes.map(reportOf) });
      for (const use of lanes) use.isMember = true;
    };
    try {
      report([...uses]);
    } catch (error) {
      if (!(error instanceof QuotameshError) || error.code !== 'ENFORCERS_FULL') throw error;
      const fresh = [...uses].filter(({ isMember }) => !isMember);
      if (fresh.length === 0) throw error;
      for (const bucket of fresh.flatMap(({ buckets }) => [...buckets])) {
        this.#leave(bucket);
        bucket.target = { kind: 'none', reason: error.message };
        this.#refuse(FULL);
      }
      report([...uses].filter(({ isMember }) => isMember));
    }
  }

  /** Lists what is due, and takes it for told; of many buckets in turns. */
  actions(nowMs: number): BucketAction[] {
    const looked: Bucket[] = [];
    for (let left = Math.min(LOOKED_MOST, this.#buckets.size); left > 0; left--) {
      let next = this.#turn.next();
      if (next.done) {
        this.#turn = this.#buckets.values();
        next = this.#turn.next();
      }
      if (next.value !== undefined) looked.push(next.value);
    }
    return this.#actionsOf(looked, nowMs);
  }

  #actionsOf(buckets: readonly Bucket[], nowMs: number): BucketAction[] {
    const actions: BucketAction[] = [];
    // A silent Envoy is renewed nothing: what it has ends before its part is given to others.
    const isSilent = nowMs - this.#reportedMs > this.#patienceMs;
    for (const bucket of buckets) {
      if (bucket.isIdle(nowMs, IDLE_MS)) {
        this.#leave(bucket);
        this.#buckets.delete(bucket.text);
        actions.push({ id: bucket.id, assignment: null });
      } else if (!isSilent) {
        const assignment = this.#due(bucket, nowMs);
        if (assignment !== null) actions.push({ id: bucket.id, assignment });
      }
    }
    return actions;
  }

  /** Gives all parts back. */
  end(): void {
    this.#parts.enforcers.end(this.#parts.enforcer);
    this.#buckets.clear();
    this.#lanes.clear();
  }

  /**
   * Milliseconds after a report in which assignments are renewed: the next one may be late. What was renewed last has
   * ended when the part is given to others, `TTL_MS` later.
   */
  get #patienceMs(): number {
    return Math.min(PATIENCE_MS_MOST, Math.max(PATIENCE_MS_LEAST, PATIENCE_GAPS * this.#gapMs));
  }

  #partOf(lane: number): Part {
    return this.#parts.enforcers.partOf(this.#parts.enforcer, lane);
  }

  #bucketOf(id: BucketId, nowMs: number): Bucket | null {
    const text = textOf(id);
    const known = this.#buckets.get(text);
    if (known !== undefined) return known;
    const { bucketsMax } = this.#parts;
    const fullness = this.#buckets.size < bucketsMax ? null : `is one more than the ${bucketsMax} of a stream`;
    const problem = idProblem(id) ?? fullness;
    if (problem !== null) {
      this.#refuse(`bucket ${problem}`);
      return null;
    }
    const bucket = new Bucket(id, text, nowMs);
    this.#buckets.set(text, bucket);
    return bucket;
  }

  #refuse(reason: string): void {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1);
  }

  /** Finds what limits the bucket now; groups, templates and rules may have changed. */
  #aim(bucket: Bucket): void {
    const target = this.#parts.targetOf(bucket.id);
    bucket.target = target;
    if (target.kind === 'none') this.#refuse(target.reason);
    const lane = target.kind === 'lane' ? target.lane : null;
    if (lane === (bucket.use?.lane ?? null)) return;
    this.#leave(bucket);
    if (lane === null) return;
    const use = this.#lanes.get(lane) ?? new LaneUse(lane);
    use.buckets.add(bucket);
    this.#lanes.set(lane, use);
    bucket.use = use;
  }

  #count(bucket: Bucket, usage: BucketUsage, nowMs: number): void {
    const allowed = Math.min(COUNT_MAX, usage.allowed);
    const denied = Math.min(COUNT_MAX, usage.denied);
    bucket.count(allowed + denied, nowMs);
    const { use } = bucket;
    if (use === null) return;
    use.admitted += allowed;
    use.offered += allowed + denied;
    use.isHeldBack ||= denied > 0;
  }

  #leave(bucket: Bucket): void {
    const { use } = bucket;
    if (use === null) return;
    bucket.use = null;
    use.remove(bucket);
    if (use.buckets.size > 0) return;
    this.#lanes.delete(use.lane);
    this.#parts.enforcers.leave(this.#parts.enforcer, use.lane);
  }

  /** Returns what to tell a bucket now; null = nothing. */
  #due(bucket: Bucket, nowMs: number): Assignment | null {
    const { inForce } = bucket;
    const { use } = bucket;
    const part = use === null ? null : this.#partOf(use.lane);
    if (use !== null && part !== null) use.divide(part.rate[MESSAGES], nowMs);
    const share = shareOf(bucket, part);
    if (share === null) return null;
    const agedMs = nowMs - bucket.toldMs;
    const hasEnded = inForce === null || agedMs >= TTL_MS;
    if (hasEnded || (isMoved(inForce, share) && agedMs >= MOVED_EVERY_MS)) {
      bucket.inForce = this.#assign(bucket, share, hasEnded);
    } else if (agedMs < RENEWED_AFTER_MS) {
      return null;
    } else if (isTooShallow(inForce, share)) {
      // Tokens that it lacked when it began may be there now.
      bucket.inForce = this.#assign(bucket, share, false);
    }
    bucket.toldMs = nowMs;
    return bucket.inForce;
  }

  #assign(bucket: Bucket, share: Share, hasEnded: boolean): Assignment {
    const { inForce, use } = bucket;
    const before = hasEnded ? null : inForce;
    if (use === null || bucket.target.kind !== 'lane' || share.rate === Infinity) return assignmentOf(share, before);
    const isAnew = use.buckets.size === 1 && before?.kind !== 'bucket';
    const { enforcers, enforcer } = this.#parts;
    return assignmentOf(shareOf(bucket, enforcers.assign(enforcer, use.lane, isAnew)) ?? share, before);
  }
}

function reportOf(use: LaneUse) {
  const { lane, admitted, offered, isHeldBack } = use;
  use.isHeldBack = false;
  return { lane, admitted: [admitted, 0] as const, offered: [offered, 0] as const, isHeldBack };
}

/** Returns a bucket's share of what its lane is given; null = unknown now. */
function shareOf({ target, part: ofLane }: Bucket, part: Part | null): Share | null {
  if (target.kind === 'none') return null;
  if (target.kind === 'allow') return EVERYTHING;
  if (target.kind === 'deny') return NOTHING;
  if (part?.isKnown !== true) return null;
  return { rate: ofLane * part.rate[MESSAGES], depth: ofLane * part.depth[MESSAGES] };
}

const EVERYTHING: Share = { rate: Infinity, depth: Infinity };
const NOTHING: Share = { rate: 0, depth: 0 };

/** Says why a bucket has no part: the error names the enforcer, which makes as many reasons as streams. */
const FULL = 'this node divides among as many buckets as it may';
/** Milliseconds that an assignment lasts: two attempts of Envoy, 5 s apart, to find another node, and some. */
export const TTL_MS = 15_000;
const RENEWED_AFTER_MS = 3000;
/** Envoy reports every 5 s; those that honour `reporting_interval` as seldom as that says. */
const PATIENCE_MS_LEAST = 7500;
const PATIENCE_MS_MOST = 120_000;
const PATIENCE_GAPS = 1.5;
/** Milliseconds between two changes: each rounds the content of the bucket down. */
const MOVED_EVERY_MS = 500;
/** Buckets looked at in a turn, some µs each: 20,000 of them within a second. */
const LOOKED_MOST = 2000;
/** Milliseconds without a request after which a bucket is abandoned. */
const IDLE_MS = 60_000;
/** Most that one report counts: a wrong one blocks no group for long. */
const COUNT_MAX = 2 ** 32;
