import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import { NEARLY_ALL_RATIO } from '../../../core/account/constants.js';
import { DIMENSIONS, DIRECTION_COUNT, DIRECTIONS, slotOf } from '../../../core/base/vocabulary.js';
import type { JointLevels, JointRequest } from '../../../core/limiter/joint-levels.js';
import { CLIENTS_FULL, type Levels, refusedBy, TOPICS_FULL } from '../../../core/limiter/levels.js';
import { ABOVE_WINDOW, type Limiter, UNCONFIRMED } from '../../../core/limiter/limiter.js';
import type { BucketNow } from '../../../core/machine/bucket-now.js';
import type { CoordinatorView } from '../../../core/machine/coordinator-view.js';
import {
  NOT_READY_RETRY_MS,
  type NotReady,
  RETRY_AFTER_MS_MAX,
  RETRY_UNKNOWN_MS,
  type Refused,
} from '../../api/decision.js';
import type { GroupTable } from '../../groups/group-table.js';
import type { AdmissionWatch, WatchedRequest } from '../request/admission-watch.js';
import { PromisedTimes } from './promised-times.js';
import type { QuotaTeller } from './quota-told.js';
import type { RefusalLedger } from './refusal-ledger.js';
import { sharedBucket, takenUnread } from './units-left.js';

export interface RefusalExplainerParts {
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly groups: GroupTable;
  readonly levels: Levels;
  readonly joint: JointLevels;
  readonly refusals: RefusalLedger;
  readonly loop: CoordinatorView;
  /** Null = there are no keys. */
  readonly keys: { countOverQuota(group: number): void } | null;
  readonly whyNotReady: () => string;
  readonly teller: QuotaTeller;
}

/** Turns a limiter's answer that is no grant into a decision. */
export class RefusalExplainer {
  /** Gets every refusal that is answered at once; null costs a comparison. */
  watch: AdmissionWatch | null = null;
  readonly #parts: RefusalExplainerParts;
  readonly #promised = new PromisedTimes();

  constructor(parts: RefusalExplainerParts) {
    this.#parts = parts;
  }

  /** Counts the refusal. Throws LEVEL_FULL and BATCH_ABOVE_WINDOW, because waiting would not help. */
  explain(request: JointRequest, answer: number): Refused | NotReady {
    const decision = this.#explain(request, answer, true);
    this.watch?.refused(this.askedOf(request), decision);
    return decision;
  }

  /** Explains to a waiting request; its watcher gets the wait's end. */
  explainInLine(request: JointRequest, answer: number): Refused | NotReady {
    return this.#explain(request, answer, false);
  }

  /** Explains. @param mayPromise true for a client that is sent away; one in line has its turn there */
  #explain(request: JointRequest, answer: number, mayPromise: boolean): Refused | NotReady {
    const nowMs = this.#parts.clock();
    const lane = request.refusedLane;
    if (answer === TOPICS_FULL) throw this.#full(lane, 'topic', nowMs);
    if (answer === CLIENTS_FULL) throw this.#full(lane, 'client', nowMs);
    if (answer === ABOVE_WINDOW) throw this.#aboveWindow({ ...request, lane }, nowMs);
    if (answer === UNCONFIRMED) {
      this.#parts.refusals.count(lane, null, -1, nowMs);
      return this.#notReady(lane);
    }
    const { level, dimension: refused } = refusedBy(answer);
    const dimension = DIMENSIONS[refused];
    this.#parts.refusals.count(lane, level, refused, nowMs);
    this.#parts.keys?.countOverQuota(Math.floor(lane / DIRECTION_COUNT));
    const tokensMs = this.#parts.joint.waitMs(request, nowMs);
    let waitMs = tokensMs;
    const { coordinator } = this.#parts.loop;
    if (level === 'group' && coordinator?.log.epochs.isHolding) {
      // A new log tells who takes what within that time.
      waitMs = Math.min(tokensMs, coordinator.settings.stalenessMs);
    } else if (level === 'group') {
      waitMs = this.#settledMs(request, refused, tokensMs, nowMs);
      if (mayPromise) waitMs = this.#promisedMs(request, refused, waitMs, nowMs);
    }
    const retryAfterMs = toldMs(waitMs);
    const group = request.namesScope ? { group: this.#nameOf(lane) } : {};
    const shadow = request.shadow === 'granted' ? { shadow: request.shadow } : {};
    return this.#parts.teller.refusal(lane, { level, dimension, retryAfterMs, ...group, ...shadow });
  }

  /**
   * Returns milliseconds until a retry makes sense. An idle node's share would need half a minute; but the refused
   * request is demand, and after a report, a delivery and a round the node has target/N. *Worked:* target 60/s, two
   * nodes, share 0.06, which needs 16 s: 250 ms + 16 s · 0.06 / 30. Where the log gives whole pieces, the cluster's
   * bucket has to hold them; where a share needs longer than a minute, it is as long as that bucket needs.
   */
  #settledMs({ lane, further, ...asked }: JointRequest, dimension: number, tokensMs: number, nowMs: number): number {
    const { loop } = this.#parts;
    if (loop.coordinator === null) return tokensMs;
    if (further.length > 0) return Math.min(tokensMs, RETRY_UNKNOWN_MS);
    const shareMs = this.#shareMs(lane, dimension, tokensMs);
    const shared = sharedBucket(loop, lane, dimension, nowMs);
    if (shared === null) return shareMs;
    const { bucket, tokens, isInPieces } = shared;
    const needed = Math.min(asked[DIMENSIONS[dimension]], bucket.depth);
    const left = tokens - takenUnread(this.#parts, lane, dimension);
    const bucketMs = (1000 * (needed - left)) / bucket.perSecond;
    return Math.min(isInPieces ? Math.max(tokensMs, bucketMs) : shareMs, Math.max(RETRY_UNKNOWN_MS, bucketMs));
  }

  #shareMs(lane: number, dimension: number, tokensMs: number): number {
    const { limiter, loop } = this.#parts;
    const served = loop.coordinator!.lanes.get(lane);
    if (tokensMs <= SETTLED_MS || served === undefined) return tokensMs;
    const limit = limiter.buckets.comesBackAt(lane * DIMENSIONS.length + dimension);
    const due = loop.coordinator!.shares.dueOf(served, dimension);
    return limit > 0 && limit < due ? Math.min(tokensMs, SETTLED_MS + (tokensMs * limit) / due) : tokensMs;
  }

  /** Returns milliseconds by promise; windows give all at once, so there is none. */
  #promisedMs({ refusedLane: lane, ...asked }: JointRequest, dimension: number, waitMs: number, nowMs: number): number {
    const { limiter, loop } = this.#parts;
    const { buckets } = limiter;
    if (buckets.windowOf(lane) > 0) return waitMs;
    const slot = slotOf(lane, dimension);
    const { coordinator } = loop;
    const served = coordinator?.lanes.get(lane);
    const perSecond = served?.isLimitedByTokens
      ? Math.max(coordinator!.shares.dueOf(served, dimension), coordinator!.shares.applied[slot])
      : buckets.rate.at(slot);
    const shared = sharedBucket(loop, lane, dimension, nowMs);
    const bucket = shared?.bucket;
    const refused = {
      slot,
      amount: asked[DIMENSIONS[dimension]],
      waitMs,
      perSecond,
      admitted: limiter.admitted.at(slot),
      spare: shared === null ? 0 : this.#spare(shared, perSecond, lane, dimension),
      fillSeconds: bucket === undefined ? buckets.depth.at(slot) / perSecond : bucket.depth / bucket.perSecond,
      turn: turnOf(coordinator),
    };
    return this.#promised.waitMs(refused, nowMs);
  }

  /**
   * Counts this node's part of the units left in a full bucket: that of the quota which is due to it. *Worked:* 2 of 10
   * are taken and unread: 0.8 where 1/s of 10/s is due, 2.2 where 2.8/s are.
   */
  #spare({ bucket, tokens }: BucketNow, perSecond: number, lane: number, dimension: number): number {
    if (tokens < NEARLY_ALL_RATIO * bucket.depth) return 0;
    const left = Math.max(0, tokens - takenUnread(this.#parts, lane, dimension));
    return left * Math.min(1, perSecond / bucket.perSecond);
  }

  /** Forgets a lane, whose number may become another group's. */
  forget(lane: number): void {
    for (let dimension = 0; dimension < DIMENSIONS.length; dimension++) this.#promised.forget(slotOf(lane, dimension));
  }

  #notReady(lane: number): NotReady {
    const because = this.#parts.whyNotReady() || 'shares are not confirmed';
    return this.#parts.teller.notReady(lane, because, NOT_READY_RETRY_MS);
  }

  #full(lane: number, level: 'topic' | 'client', nowMs: number): QuotameshError {
    this.#parts.refusals.count(lane, level, -1, nowMs);
    const direction = DIRECTIONS[lane % DIRECTION_COUNT];
    const max = this.#parts.levels.maxOf(lane, level);
    return new QuotameshError('LEVEL_FULL', { group: this.#nameOf(lane), direction, max, level });
  }

  #aboveWindow({ lane, messages, bytes }: JointRequest, nowMs: number): QuotameshError {
    const { buckets } = this.#parts.limiter;
    const dimension = buckets.scarcest(lane, messages, bytes);
    this.#parts.refusals.count(lane, 'group', dimension, nowMs);
    const slot = lane * DIMENSIONS.length + dimension;
    return new QuotameshError('BATCH_ABOVE_WINDOW', {
      amount: [messages, bytes][dimension],
      dimension: DIMENSIONS[dimension],
      group: this.#nameOf(lane),
      holds: Math.floor(buckets.depth.at(slot)),
      windowMs: buckets.windowOf(lane),
    });
  }

  askedOf({ lane, messages, bytes }: JointRequest): WatchedRequest {
    const direction = DIRECTIONS[lane % DIRECTION_COUNT];
    return { group: this.#nameOf(lane), direction, messages, bytes };
  }

  #nameOf(lane: number): string {
    return this.#parts.groups.ofLane(lane).name;
  }
}

/** Rounds up to what a client is told; who would wait for ever may try again in a minute. */
function toldMs(waitMs: number): number {
  if (waitMs === Infinity) return RETRY_UNKNOWN_MS;
  return Math.min(RETRY_AFTER_MS_MAX, Math.max(1, Math.ceil(waitMs)));
}

/** Reads this node's place among all, above 0 and at most 1; in the middle where it is alone or the log lacks it. */
function turnOf(coordinator: CoordinatorView['coordinator']): number {
  const nodes = coordinator?.membership.aliveCount ?? 0;
  const at = coordinator?.membership.indexOf(coordinator.nodeKey) ?? -1;
  return nodes <= 1 || at === -1 ? 0.5 : (at + 1) / nodes;
}

/** Milliseconds until shares have followed a new demand: a report (50 ms), a delivery, a round. */
const SETTLED_MS = 250;
