import { BYTES } from '../../../core/base/vocabulary.js';
import type { CoordinatorView } from '../../../core/machine/coordinator-view.js';
import { BUDGET_UNITS, type BudgetUnit } from '../../../core/strict/budget-units.js';
import type { Refuser } from '../../api/decision.js';
import type { RefusalCount, RefusalReason } from '../../api/group-explanation.js';

interface Entry {
  readonly level: Refuser | null;
  readonly dimension: BudgetUnit | null;
  readonly reason: RefusalReason;
  count: number;
  lastMs: number;
}

/**
 * Counts a lane's refusals since the start, by level, dimension and reason. Counting costs a look-up and two numbers,
 * as under overload most answers are refusals.
 */
export class RefusalLedger {
  readonly #loop: CoordinatorView;
  readonly #lanes = new Map<number, Entry[]>();

  constructor(loop: CoordinatorView) {
    this.#loop = loop;
  }

  /** Counts one. @param dimension index of BUDGET_UNITS; −1 = no room, or nothing is decided */
  count(lane: number, level: Refuser | null, dimension: number, nowMs: number): void {
    const reason = this.#reasonOf(lane, level, dimension);
    const name = dimension === -1 ? null : BUDGET_UNITS[dimension];
    const entries = this.#lanes.get(lane) ?? [];
    if (entries.length === 0) this.#lanes.set(lane, entries);
    let entry = entries.find((one) => one.reason === reason && one.level === level && one.dimension === name);
    if (entry === undefined) {
      entry = { level, dimension: name, reason, count: 0, lastMs: nowMs };
      entries.push(entry);
    }
    entry.count++;
    entry.lastMs = nowMs;
  }

  forget(lane: number): void {
    this.#lanes.delete(lane);
  }

  of(lane: number, nowMs: number): readonly RefusalCount[] {
    const entries = [...(this.#lanes.get(lane) ?? [])].sort((one, other) => other.lastMs - one.lastMs);
    return entries.map(({ lastMs, ...entry }) => ({ ...entry, lastAgoMs: Math.max(0, nowMs - lastMs) }));
  }

  #reasonOf(lane: number, level: Refuser | null, dimension: number): RefusalReason {
    if (level === null) return 'not-ready';
    if (dimension === -1) return 'no-room';
    if (level !== 'group') return 'own-limit';
    const state = this.#loop.coordinator?.lanes.get(lane);
    if (state !== undefined && state.link !== 'linked') return 'isolated';
    return dimension === BYTES ? 'bytes' : (state?.binding ?? 'messages');
  }
}
