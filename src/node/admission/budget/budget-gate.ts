import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import { DIRECTION_COUNT } from '../../../core/base/vocabulary.js';
import type { Limiter } from '../../../core/limiter/limiter.js';
import type { TokenRequest } from '../../../core/limiter/token-request.js';
import type { CoordinatorView } from '../../../core/machine/coordinator-view.js';
import { BUDGET_UNITS } from '../../../core/strict/budget-units.js';
import type { StrictWallet } from '../../../core/strict/strict-wallet.js';
import {
  type AcquireOptions,
  type Decision,
  NOT_READY_RETRY_MS,
  type NotReady,
  RETRY_AFTER_MS_MAX,
  RETRY_UNKNOWN_MS,
  type Refused,
  type RequestAmounts,
  type WaitOptions,
} from '../../api/decision.js';
import type { GroupTable } from '../../groups/group-table.js';
import type { BudgetLane, KeptBudgets } from '../../strict/budget-lanes.js';
import type { QuotaTeller } from '../decide/quota-told.js';
import type { RefusalLedger } from '../decide/refusal-ledger.js';
import { BudgetHold } from './budget-hold.js';
import { spentOf } from './spent-amount.js';

interface BudgetGateParts {
  readonly budgets: KeptBudgets;
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly groups: GroupTable;
  readonly loop: CoordinatorView;
  readonly refusals: RefusalLedger;
  readonly teller: QuotaTeller;
  readonly whyNotReady: () => string;
  readonly limits: { readonly maxWaiting: number };
}

type Asked = Pick<TokenRequest, 'lane' | 'messages' | 'bytes'>;

/** Parts of a unit, taken until the request is decided. */
interface Taken {
  readonly count: number;
  readonly wallet: StrictWallet | null;
}

/** Result of a charge for work that is done: `lacking` = the period did not have all of it. */
export type SpendEnd = 'charged' | 'lacking';

/** Looks and orders; other nodes may take what was left between. */
const SPEND_TRIES = 3;

/** Given by who enters: what is granted is held until the request ends. */
interface MayHold {
  readonly hold?: BudgetHold | null;
}

/** Takes a request's part of the budget, then asks the rate. What that refuses is given back: neither is charged. */
export class BudgetGate {
  readonly #parts: BudgetGateParts;
  #waiting = 0;

  constructor(parts: BudgetGateParts) {
    this.#parts = parts;
  }

  /** Tests if the request's group has a budget. Throws BUDGET_UNABLE where other groups decide beside it. */
  keeps({ lane, further }: { readonly lane: number; readonly further: readonly number[] }): boolean {
    const { budgets } = this.#parts;
    if (budgets.isEmpty) return false;
    const kept = [lane, ...further].find((each) => budgets.keeps(Math.floor(each / DIRECTION_COUNT)));
    if (kept === undefined) return false;
    if (further.length > 0) throw this.#unable(kept, 'decide beside other groups');
    return true;
  }

  /** Throws BUDGET_UNABLE if the request's group has one. @param what what it cannot do */
  refuse(asked: { readonly lane: number; readonly further: readonly number[] }, what: string): void {
    if (this.keeps(asked)) throw this.#unable(asked.lane, what);
  }

  /** Takes of the budget, then asks `decide` for the rest. */
  tryAcquire(
    asked: Asked,
    amounts: RequestAmounts,
    options: AcquireOptions & MayHold,
    decide: (part: Asked) => Decision,
  ): Decision {
    const lane = this.#laneOf(asked.lane) as BudgetLane;
    const part = options.atMost === true ? this.#partOf(lane, asked) : asked;
    const count = this.#countOf(lane, part, amounts);
    const doubt = this.#doubtOf(lane);
    if (doubt !== null) return this.#notReady(asked, options, doubt);
    const isTaken = count === 0 || (this.#fits(lane, count) && lane.bucket.tryAcquire(count));
    if (!isTaken) return this.#refuse(asked, lane, count, options);
    const taken = { count, wallet: lane.bucket.wallet };
    const decision = asBudget(() => decide(part), taken);
    return this.#settled(lane, taken, decision, options);
  }

  /** Decides as `tryAcquire`; both may wait, `waitMs` together. */
  async acquire(
    asked: Asked,
    amounts: RequestAmounts,
    options: WaitOptions & MayHold,
    decide: (waitMs: number) => Promise<Decision>,
  ): Promise<Decision> {
    const lane = this.#laneOf(asked.lane) as BudgetLane;
    const count = this.#countOf(lane, asked, amounts);
    const doubt = this.#doubtOf(lane);
    if (doubt !== null) return this.#notReady(asked, options, doubt);
    if (!this.#fits(lane, count)) return this.#refuse(asked, lane, count, options);
    const { clock, limits } = this.#parts;
    const untilMs = clock() + options.waitMs;
    if (this.#waiting >= limits.maxWaiting) throw new QuotameshError('WAITING_FULL', { max: this.#waiting });
    this.#waiting++;
    // A lane where somebody waits stays the key's.
    const { heldBack } = this.#parts.limiter;
    heldBack[asked.lane]++;
    let isTaken = count === 0;
    try {
      isTaken ||= await lane.bucket.acquire(count, this.#worthMs(lane, count, options.waitMs), options.signal);
    } finally {
      this.#waiting--;
      this.#parts.limiter.heldBack[asked.lane]--;
    }
    if (!isTaken) return this.#refuse(asked, lane, count, options);
    const taken = { count, wallet: lane.bucket.wallet };
    try {
      return this.#settled(lane, taken, await decide(Math.max(0, untilMs - clock())), options);
    } catch (error) {
      taken.wallet?.endRequest(count, 0);
      throw error;
    }
  }

  /** Charges work that is done, as far as the period has it; the rest is let off. */
  async spend(asked: Asked, amounts: RequestAmounts): Promise<SpendEnd | NotReady> {
    const lane = this.#laneOf(asked.lane) as BudgetLane;
    let missing = this.#countOf(lane, asked, amounts);
    const doubt = this.#doubtOf(lane);
    if (doubt !== null) return this.#parts.teller.notReady(asked.lane, doubt, NOT_READY_RETRY_MS);
    const { heldBack } = this.#parts.limiter;
    heldBack[asked.lane]++;
    try {
      for (let tries = 0; missing > 0 && tries < SPEND_TRIES; tries++) {
        // Nothing is known of a key that nobody has used.
        const part = lane.bucket.isKnown ? Math.min(missing, lane.bucket.left) : missing;
        if (part === 0 || !(await lane.bucket.acquire(part, lane.bucket.tripMs))) continue;
        lane.bucket.wallet?.endRequest(part, part);
        missing -= part;
      }
    } finally {
      this.#parts.limiter.heldBack[asked.lane]--;
    }
    return missing === 0 ? 'charged' : 'lacking';
  }

  /** Tests if the budget has it here now. */
  contains(asked: Asked, amounts: RequestAmounts): boolean {
    const lane = this.#laneOf(asked.lane) as BudgetLane;
    const count = this.#countOf(lane, asked, amounts);
    return this.#doubtOf(lane) === null && lane.bucket.contains(count);
  }

  /** Milliseconds that who asks without a wait waits; 0 = the lane has no budget. */
  usualWaitMs(lane: number): number {
    const known = this.#laneOf(lane);
    return known === undefined ? 0 : (this.#parts.groups.ofLane(lane).waitMs ?? known.bucket.tripMs);
  }

  /** Counts what a request costs, in parts of the unit. */
  #countOf({ config: { unit } }: BudgetLane, asked: Asked, amounts: RequestAmounts): number {
    if (unit === 'messages' || unit === 'bytes') return asked[unit];
    return spentOf(this.#parts.groups.ofLane(asked.lane).name, unit, amounts);
  }

  /** False = no period has so much: nothing is ordered for it. */
  #fits(lane: BudgetLane, count: number): boolean {
    return count <= this.#parts.budgets.mostOf(lane);
  }

  /** Grants a part of what is held here: whole messages, at least one. */
  #partOf({ config: { unit }, bucket }: BudgetLane, asked: Asked): Asked {
    if (unit === 'bytes') return asked;
    // Nobody says what a part of the messages costs.
    if (unit !== 'messages') throw this.#unable(asked.lane, `grant a part of its ${unit} (atMost)`);
    return { ...asked, messages: Math.max(1, Math.min(asked.messages, bucket.held)) };
  }

  /** Waits only for what the log has: no period begins while a request waits. */
  #worthMs({ bucket }: BudgetLane, count: number, waitMs: number): number {
    return bucket.left < count ? Math.min(waitMs, bucket.tripMs) : waitMs;
  }

  /** Charges or holds what was granted, and gives the rest back. */
  #settled(lane: BudgetLane, { count, wallet }: Taken, decision: Decision, { hold }: MayHold): Decision {
    const { unit } = lane.config;
    const part = decision.granted && (unit === 'messages' || unit === 'bytes') ? decision[unit] : undefined;
    if (decision.granted && hold instanceof BudgetHold) hold.begin(unit, count, wallet);
    else wallet?.endRequest(count, decision.granted ? Math.min(count, part ?? count) : 0);
    return decision.granted ? Object.assign(spread(decision), { budget: this.#parts.budgets.told(lane) }) : decision;
  }

  #refuse(asked: Asked, lane: BudgetLane, count: number, { retry = false }: AcquireOptions): Refused {
    const { limiter, refusals, teller, clock, budgets } = this.#parts;
    const { unit } = lane.config;
    limiter.countRefused(asked.lane, asked.messages, asked.bytes, retry);
    refusals.count(asked.lane, 'budget', BUDGET_UNITS.indexOf(unit), clock());
    const budget = budgets.told(lane);
    const isThere = lane.bucket.left >= count;
    const waitMs = isThere ? lane.bucket.tripMs : (budget.resetMs ?? RETRY_UNKNOWN_MS);
    const retryAfterMs = Math.min(RETRY_AFTER_MS_MAX, Math.max(1, Math.ceil(waitMs)));
    return Object.assign(teller.refusal(asked.lane, { level: 'budget', dimension: unit, retryAfterMs }), { budget });
  }

  #notReady(asked: Asked, { retry = false }: AcquireOptions, because: string): NotReady {
    const { limiter, refusals, teller, clock } = this.#parts;
    limiter.countRefused(asked.lane, asked.messages, asked.bytes, retry);
    refusals.count(asked.lane, null, -1, clock());
    return teller.notReady(asked.lane, because, NOT_READY_RETRY_MS);
  }

  /** Why this node cannot know what it may spend; null = it can. */
  #doubtOf(lane: BudgetLane): string | null {
    if (!this.#parts.loop.isReady) return this.#parts.whyNotReady();
    return this.#parts.budgets.because(lane) || null;
  }

  #laneOf(lane: number): BudgetLane | undefined {
    return this.#parts.budgets.get(Math.floor(lane / DIRECTION_COUNT));
  }

  #unable(lane: number, what: string): QuotameshError {
    return new QuotameshError('BUDGET_UNABLE', { group: this.#parts.groups.ofLane(lane).name, what });
  }
}

/** Decides, and gives the part back where that throws. */
function asBudget(decide: () => Decision, { count, wallet }: Taken): Decision {
  try {
    return decide();
  } catch (error) {
    wallet?.endRequest(count, 0);
    throw error;
  }
}

/** Copies a grant that all requests share. */
function spread(decision: Decision): Decision {
  return Object.isFrozen(decision) ? { ...decision } : decision;
}
