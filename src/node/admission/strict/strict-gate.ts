import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import { DIRECTION_COUNT, DIRECTIONS, MESSAGES } from '../../../core/base/vocabulary.js';
import type { Limiter } from '../../../core/limiter/limiter.js';
import type { TokenRequest } from '../../../core/limiter/token-request.js';
import type { CoordinatorView } from '../../../core/machine/coordinator-view.js';
import {
  type AcquireOptions,
  type Decision,
  GRANTED_DECISION,
  NOT_READY_RETRY_MS,
  type NotReady,
  RETRY_AFTER_MS_MAX,
  RETRY_UNKNOWN_MS,
  type Refused,
  type WaitOptions,
} from '../../api/decision.js';
import type { GroupTable } from '../../groups/group-table.js';
import type { StrictDoubt } from '../../strict/strict-bucket.js';
import type { KeptLanes, StrictLane } from '../../strict/strict-lanes.js';
import type { QuotaTeller } from '../decide/quota-told.js';
import type { RefusalLedger } from '../decide/refusal-ledger.js';
import type { AdmissionWatch, WatchedRequest } from '../request/admission-watch.js';

interface StrictGateParts {
  readonly lanes: KeptLanes;
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly groups: GroupTable;
  readonly loop: CoordinatorView;
  readonly refusals: RefusalLedger;
  readonly teller: QuotaTeller;
  readonly watch: () => AdmissionWatch | null;
  readonly whyNotReady: () => string;
  /** Most requests that wait at once. */
  readonly maxWaiting: number;
}

type Doubt = StrictDoubt | 'not-ready';
type Asked = Pick<TokenRequest, 'lane' | 'messages' | 'bytes'>;

/** Decides requests of strict groups: by what the log has granted to this node, and by nothing else. */
export class StrictGate {
  readonly #parts: StrictGateParts;
  #waiting = 0;

  constructor(parts: StrictGateParts) {
    this.#parts = parts;
  }

  /** Tests if the request's group is strict. Throws STRICT_UNABLE where other groups decide beside it. */
  keeps({ lane, further }: { readonly lane: number; readonly further: readonly number[] }): boolean {
    const { lanes } = this.#parts;
    if (lanes.all.size === 0) return false;
    const strict = [lane, ...further].find((each) => lanes.get(each) !== undefined);
    if (strict === undefined) return false;
    if (further.length > 0) throw this.#unable(strict, 'decide beside other groups');
    return true;
  }

  /** Throws STRICT_UNABLE if the request's group is strict. @param what what it cannot do */
  refuse(asked: { readonly lane: number; readonly further: readonly number[] }, what: string): void {
    if (this.keeps(asked)) throw this.#unable(asked.lane, what);
  }

  tryAcquire(asked: Asked, { atMost = false, tell = false, retry = false }: AcquireOptions): Decision {
    const { bucket } = this.#laneOf(asked.lane);
    const part = atMost ? Math.max(1, Math.min(asked.messages, bucket.held)) : asked.messages;
    const doubt = this.#doubtOf(asked.lane);
    if (doubt !== null || !(part === 0 || bucket.tryAcquire(part))) return this.#refuse(asked, retry, doubt);
    const granted = { ...asked, messages: part };
    this.#countGranted(granted, retry);
    if (atMost) return this.#parts.teller.part(asked.lane, part, asked.bytes);
    return tell ? this.#parts.teller.grant(asked.lane) : GRANTED_DECISION;
  }

  /** Decides as `tryAcquire`, but waits its turn for up to `waitMs`. */
  async acquire(asked: Asked, options: WaitOptions): Promise<Decision> {
    const { waitMs, signal, retry = false } = options;
    const { bucket } = this.#laneOf(asked.lane);
    const doubt = this.#doubtOf(asked.lane);
    if (waitMs === 0 || asked.messages === 0 || doubt !== null) return this.tryAcquire(asked, { retry, tell: true });
    if (this.#waiting >= this.#parts.maxWaiting) throw new QuotameshError('WAITING_FULL', { max: this.#waiting });
    const ended = this.#parts.watch()?.waits(this.#watched(asked));
    const { heldBack } = this.#parts.limiter;
    this.#waiting++;
    heldBack[asked.lane]++;
    let decision: Decision | null = null;
    try {
      const isGranted = await bucket.acquire(asked.messages, waitMs, signal);
      if (isGranted) this.#countGranted(asked, retry);
      decision = isGranted
        ? this.#parts.teller.grant(asked.lane)
        : this.#explain(asked, retry, this.#doubtOf(asked.lane));
      return decision;
    } finally {
      this.#waiting--;
      this.#parts.limiter.heldBack[asked.lane]--;
      ended?.(decision);
    }
  }

  containsTokens({ lane, messages }: Asked): boolean {
    return this.#doubtOf(lane) === null && this.#laneOf(lane).bucket.contains(messages);
  }

  /** Milliseconds until one message may be here; 0 = it is. */
  throttleMs(lane: number): number {
    const { bucket } = this.#laneOf(lane);
    return bucket.contains(1) ? 0 : toldMs(bucket.msUntil(1));
  }

  /** Milliseconds that who asks without a wait waits; 0 = the lane is not strict. */
  usualWaitMs(lane: number): number {
    const known = this.#parts.lanes.get(lane);
    if (known === undefined) return 0;
    return this.#parts.groups.ofLane(lane).waitMs ?? known.bucket.tripMs;
  }

  #refuse(asked: Asked, retry: boolean, doubt: Doubt | null): Refused | NotReady {
    const decision = this.#explain(asked, retry, doubt);
    this.#parts.watch()?.refused(this.#watched(asked), decision);
    return decision;
  }

  #explain(asked: Asked, retry: boolean, doubt: Doubt | null): Refused | NotReady {
    const { limiter, refusals, teller, clock, whyNotReady, lanes } = this.#parts;
    const { lane, messages, bytes } = asked;
    limiter.countRefused(lane, messages, bytes, retry);
    if (doubt !== null) {
      refusals.count(lane, null, -1, clock());
      return teller.notReady(
        lane,
        doubt === 'not-ready' ? whyNotReady() : lanes.because(this.#laneOf(lane)),
        NOT_READY_RETRY_MS,
      );
    }
    refusals.count(lane, 'group', MESSAGES, clock());
    const retryAfterMs = toldMs(this.#laneOf(lane).bucket.msUntil(messages));
    return teller.refusal(lane, { level: 'group', dimension: 'messages', retryAfterMs });
  }

  #doubtOf(lane: number): Doubt | null {
    if (!this.#parts.loop.isReady) return 'not-ready';
    const state = this.#parts.lanes.stateOf(this.#laneOf(lane));
    return state === 'kept' ? null : (state as StrictDoubt);
  }

  #laneOf(lane: number): StrictLane {
    return this.#parts.lanes.get(lane) as StrictLane;
  }

  #countGranted({ lane, messages, bytes }: Asked, retry: boolean): void {
    this.#parts.limiter.countSettled(lane, messages, bytes, retry);
  }

  #watched({ lane, messages, bytes }: Asked): WatchedRequest {
    const direction = DIRECTIONS[lane % DIRECTION_COUNT];
    return { group: this.#parts.groups.ofLane(lane).name, direction, messages, bytes };
  }

  #unable(lane: number, what: string): QuotameshError {
    return new QuotameshError('STRICT_UNABLE', { group: this.#parts.groups.ofLane(lane).name, what });
  }
}

function toldMs(waitMs: number): number {
  if (waitMs === Infinity) return RETRY_UNKNOWN_MS;
  return Math.min(RETRY_AFTER_MS_MAX, Math.max(1, Math.ceil(waitMs)));
}
