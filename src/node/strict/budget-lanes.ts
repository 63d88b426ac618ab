import type { Telemetry } from '../../base/ports/telemetry.js';
import type { BudgetConfig } from '../../config/resolved/resolved-config.js';
import { budgetQuotaOf } from '../../config/resolved/strict-quota.js';
import { beside, NEW_BUDGET } from '../../core/strict/budget-account.js';
import {
  amountOf,
  type BudgetUnit,
  countable,
  countOf,
  largestAmount,
  largestCount,
} from '../../core/strict/budget-units.js';
import type { BudgetGifts } from '../api/budget-gifts.js';
import type { BudgetTold } from '../api/decision.js';
import type { StrictLaneState } from '../api/node-status.js';
import type { BudgetSpent } from '../api/quota-node.js';
import type { GroupTable } from '../groups/group-table.js';
import { BudgetCalendar } from './budget-calendar.js';
import { ALL_KEYS, becauseOf, stateByLog, ToldStates } from './lane-states.js';
import { OpenKeys } from './open-keys.js';
import type { StrictBucket } from './strict-bucket.js';
import { strictLaneName } from './strict-codec.js';
import type { StrictLog } from './strict-log.js';

interface BudgetLanesParts {
  readonly log: Pick<StrictLog, 'add' | 'open' | 'remove' | 'lost' | 'unsafe' | 'keyed'>;
  readonly cluster: string;
  readonly groups: GroupTable;
  readonly telemetry: Telemetry;
  /** Wall clock that does not jump ahead. */
  readonly wall: () => number;
  /** Keys of which the log has something, at most: keys.maxLoud. */
  readonly maxKeys: number;
}

/** Budget of a group. */
export interface BudgetLane {
  readonly name: string;
  readonly bucket: StrictBucket;
  readonly config: BudgetConfig;
  readonly calendar: BudgetCalendar;
}

/** Budgets of groups as admission sees them. */
export type KeptBudgets = Pick<
  BudgetLanes,
  'get' | 'keeps' | 'isEmpty' | 'rejectIfFull' | 'read' | 'end' | 'stateOf' | 'because' | 'told' | 'mostOf'
>;

export const NO_BUDGETS: KeptBudgets = {
  get: () => undefined,
  keeps: () => false,
  isEmpty: true,
  rejectIfFull: () => {},
  read: () => {},
  end: () => {},
  stateOf: () => 'kept',
  because: () => '',
  told: () => ({ unit: 'messages', limit: 0, remaining: 0, resetMs: null }),
  mostOf: () => 0,
};

/** Milliseconds between looks at the calendar. More: periods begin later. */
const LOOK_MS = 250;
/** Milliseconds in which a gift is read back. */
const CREDIT_MS = 5000;
const CREDIT_LOOK_MS = 10;

/** Keeps the budgets of groups, and begins their periods. */
export class BudgetLanes {
  /** Called with what the log is told of thresholds. */
  onSpent: (spent: BudgetSpent) => void = () => {};
  readonly #parts: BudgetLanesParts;
  readonly #lanes = new Map<number, BudgetLane>();
  readonly #keys: OpenKeys<BudgetLane>;
  readonly #told: ToldStates;
  /** Groups of whose budget the log knew no period. */
  readonly #new = new Set<number>();
  /** Group → percentage that was told last, and of which period. */
  readonly #spent = new Map<number, { readonly fromMs: number; readonly percent: number }>();
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: BudgetLanesParts) {
    this.#parts = parts;
    this.#keys = new OpenKeys({
      ...parts,
      whatOf: (group) => whatOf(parts.groups.at(group)),
      make: (name, bucket, group) => this.#made(name, bucket, group),
      isNeeded: () => false,
    });
    const texts = { again: 'budget can be spent again', stopped: 'budget cannot be spent' };
    this.#told = new ToldStates(parts.telemetry, texts);
  }

  /** Begins periods from now on, and logs what cannot be spent. */
  start(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Returns the budget of a group or key; opens a key's lane. */
  get(group: number): BudgetLane | undefined {
    const known = this.#lanes.get(group);
    if (known !== undefined) return known;
    const opened = this.#keys.open(group);
    if (opened === undefined) return undefined;
    this.#lanes.set(group, opened);
    // Its first request writes the period, too.
    this.#beginPeriod(opened, this.#parts.wall());
    return opened;
  }

  /** Returns the budget of a group, or of an open key. */
  known(group: number): BudgetLane | undefined {
    return this.#lanes.get(group);
  }

  /** Returns the budget of a key used lately, silent or not. */
  ofKey(key: string, budget: BudgetConfig): BudgetLane | undefined {
    return this.#keys.ofKey(key, whatOf({ budget }));
  }

  /** Tests if a group or key has a budget; opens nothing. */
  keeps(group: number): boolean {
    return this.#lanes.has(group) || this.#keys.has(group);
  }

  get isEmpty(): boolean {
    return this.#lanes.size + this.#keys.size === 0;
  }

  /** Keys whose lanes are open here. */
  get openKeys(): number {
    return this.#keys.openCount;
  }

  /** Throws KEYS_FULL where the log has no room for a new key. */
  rejectIfFull(key: string, budget: BudgetConfig): void {
    this.#keys.rejectIfFull(key, whatOf({ budget }));
  }

  /** Says for people why budgets of keys cannot be spent; '' = they can, or none is used. */
  get becauseOfKeys(): string {
    return this.#keys.because;
  }

  get all(): ReadonlyMap<number, BudgetLane> {
    return this.#lanes;
  }

  /** Follows a new or changed group. */
  read(group: number): void {
    const { cluster, groups, log } = this.#parts;
    const { name: groupName, budget } = groups.at(group);
    const quota = budgetQuotaOf(groups.at(group));
    if (budget === null || quota === null) {
      this.end(group);
      return;
    }
    if (groups.isKey(group)) {
      if (!this.#keys.read(group, quota, this.#lanes.get(group))) this.#lanes.delete(group);
      return;
    }
    const known = this.#lanes.get(group);
    // The unit is a part of the name: messages spent are no bytes.
    const name = strictLaneName(cluster, groupName, whatOf({ budget }));
    if (known !== undefined && known.name !== name) {
      const units = { before: known.config.unit, after: budget.unit };
      this.#parts.telemetry.log('warn', 'budget begins full in another unit', { group: groupName, ...units });
      this.end(group);
    }
    const kept = this.#lanes.get(group)?.bucket;
    kept?.propose(quota);
    this.#lanes.set(group, this.#made(name, kept ?? log.add(name, quota), group));
  }

  #made(name: string, bucket: StrictBucket, group: number): BudgetLane {
    // Its quota comes from it.
    const config = this.#parts.groups.at(group).budget as BudgetConfig;
    return { name, bucket, config, calendar: new BudgetCalendar(config.per, config.timezone) };
  }

  /** Gives back what a budget holds here. */
  end(group: number): void {
    this.#keys.forget(group);
    const known = this.#lanes.get(group);
    if (known === undefined) return;
    this.#lanes.delete(group);
    this.#told.forget(group);
    this.#new.delete(group);
    this.#spent.delete(group);
    if (!this.#keys.close(known.name)) this.#parts.log.remove(known.name);
  }

  /** Tells if this node knows what it may spend. */
  stateOf({ bucket }: BudgetLane): StrictLaneState {
    const state = stateByLog(this.#parts.log, bucket);
    return state === 'kept' && bucket.budget !== null && bucket.isClosed ? 'between-periods' : state;
  }

  /** Says for people why nothing can be spent; '' = it can. */
  because(lane: BudgetLane): string {
    return becauseOf(this.stateOf(lane), this.#parts.log);
  }

  /** Lists what a budget was given, the newest last. */
  gifts({ bucket, config: { unit } }: BudgetLane): BudgetGifts['gifts'] {
    const { credits = [] } = bucket.budget ?? {};
    return credits.map(({ id, tokens, asked, atMs, giver }) => {
      const amounts = { amount: asked === null ? null : amountOf(unit, asked), counts: amountOf(unit, tokens) };
      return { id, ...amounts, time: new Date(atMs).toISOString(), who: giver };
    });
  }

  /** Counts what the present period may spend, in parts of its unit. */
  mostOf({ bucket: { budget, quota } }: BudgetLane): number {
    return quota.depth + (budget === null ? 0 : beside(budget));
  }

  /** Tells what is left, as far as this node knows. */
  told(lane: BudgetLane): BudgetTold {
    const { bucket, config } = lane;
    const untilMs = bucket.budget?.period?.untilMs ?? null;
    return {
      unit: config.unit,
      limit: amountOf(config.unit, this.mostOf(lane)),
      remaining: amountOf(config.unit, bucket.left),
      resetMs: untilMs === null ? null : Math.max(0, untilMs - this.#parts.wall()),
    };
  }

  /** Returns null, or why the present period cannot have so much beside. */
  refusalOf(lane: BudgetLane, amount: number): string | null {
    const { unit } = lane.config;
    const count = countOf(unit, amount);
    if (Number.isNaN(count)) return `must be ${countable(unit)}, got ${amount}`;
    if (this.mostOf(lane) + count <= largestCount(unit)) return null;
    return `would raise the period above ${largestAmount(unit)} ${unit}, got ${amount}`;
  }

  /**
   * Gives an amount to the present period, once for each id; null = all that is gone. Returns whether it counts now, or
   * null if the log did not answer.
   */
  async credit(lane: BudgetLane, id: string, amount: number | null, giver: string): Promise<boolean | null> {
    const isKnown = () => lane.bucket.budget?.credits.some((credit) => credit.id === id) === true;
    // Rows and period of a key that was opened just now are read first.
    await this.#within(() => this.stateOf(lane) === 'kept' && lane.bucket.budget?.period != null);
    if (this.stateOf(lane) !== 'kept') return null;
    if (isKnown()) return false;
    lane.bucket.credit(id, amount === null ? null : countOf(lane.config.unit, amount), giver);
    await this.#within(isKnown);
    return isKnown() || null;
  }

  async #within(isSo: () => boolean): Promise<void> {
    for (let waitedMs = 0; waitedMs < CREDIT_MS && !isSo(); waitedMs += CREDIT_LOOK_MS) {
      await new Promise((resolve) => setTimeout(resolve, CREDIT_LOOK_MS));
    }
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#lanes.clear();
  }

  #look(): void {
    const wallMs = this.#parts.wall();
    this.#keys.closeIdle();
    for (const [group, lane] of this.#lanes) {
      if (this.#keys.has(group) && !this.#keys.isOpen(lane.name)) {
        this.#lanes.delete(group);
        continue;
      }
      this.#beginPeriod(lane, wallMs);
      // A stranger chooses how many keys there are.
      if (this.#keys.has(group)) continue;
      this.#tellFirst(group, lane);
      this.#tellSpent(group, lane);
      this.#told.tell(group, this.stateOf(lane), this.because(lane), { group: this.#parts.groups.at(group).name });
    }
    this.#told.tell(ALL_KEYS, this.#keys.state, this.#keys.because, { keys: this.#keys.size });
  }

  #beginPeriod({ bucket, calendar, config }: BudgetLane, wallMs: number): void {
    const carried = Math.floor(config.carry * countOf(config.unit, config.amount));
    bucket.beginPeriod(calendar.periodAt(wallMs), carried, wallMs);
  }

  /** Warns where a budget begins full because nobody knew it. */
  #tellFirst(group: number, { bucket: { budget } }: BudgetLane): void {
    if (budget === null) return;
    if (budget.period === null) this.#new.add(group);
    else if (this.#new.delete(group)) {
      const facts = { group: this.#parts.groups.at(group).name, since: new Date(budget.period.fromMs).toISOString() };
      this.#parts.telemetry.log('warn', 'budget begins full: no node and no log knew what was spent', facts);
    }
  }

  /** Returns the last threshold that the period has reached here; 0 = none. */
  reachedOf(group: number): number {
    return this.#spent.get(group)?.percent ?? 0;
  }

  /** Warns once a period at each threshold of `warnAt`. */
  #tellSpent(group: number, lane: BudgetLane): void {
    const { period, gone } = lane.bucket.budget ?? NEW_BUDGET;
    if (period === null) return;
    const most = this.mostOf(lane);
    const { unit, warnAt } = lane.config;
    const reached = warnAt.map(percentOf).findLast((percent) => 100 * gone >= percent * most) ?? 0;
    const before = this.#spent.get(group);
    this.#spent.set(group, { fromMs: period.fromMs, percent: reached });
    if (reached === 0 || (before?.fromMs === period.fromMs && reached <= before.percent)) return;
    const facts = { group: this.#parts.groups.at(group).name, ...amountsOf(unit, { spent: gone, limit: most }), unit };
    this.#parts.telemetry.log('warn', `budget is spent to ${reached} %`, facts);
    this.onSpent({ ...facts, percent: reached });
  }
}

/** Returns 7 for 0.07, and not 7.000000000000001. */
function percentOf(part: number): number {
  return Math.round(10_000 * 100 * part) / 10_000;
}

function amountsOf<Name extends string>(unit: BudgetUnit, counts: Readonly<Record<Name, number>>) {
  const entries = Object.entries<number>(counts).map(([name, count]) => [name, amountOf(unit, count)] as const);
  return Object.fromEntries(entries) as Record<Name, number>;
}

/** Names what a lane counts. The unit is a part of it: messages spent are no bytes. */
function whatOf({ budget }: { readonly budget: BudgetConfig | null }): string {
  return `budget-${budget?.unit}`;
}
