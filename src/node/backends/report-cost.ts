import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { showSent } from '../../base/input/input-mistakes.js';
import type { Clock } from '../../base/ports/clock.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { GROUP_NAME } from '../../config/setting/setting.js';
import { backendIdOf } from '../../core/base/ids.js';
import { directionIndex, laneOf } from '../../core/base/vocabulary.js';
import type { ServingLoop } from '../../core/machine/coordinator-view.js';
import { NO_BACKEND } from '../../core/target/cost-meter.js';
import { costUnits } from '../../core/target/cost-units.js';
import type { CostOptions, ReportedCost } from '../api/quota-node.js';

interface CostParts {
  readonly config: Pick<ResolvedConfig, 'cluster' | 'costs'>;
  readonly clock: Clock;
  readonly gate: { groupIndex(group: string): number };
  readonly loop: ServingLoop;
  /** NOT_READY with the present reasons. */
  readonly notReady: () => QuotameshError;
}

/**
 * Counts costs of work on all backends that it touched. Sampling with probability p makes rates noisy: n samples leave
 * a standard error of 1/√n. *Worked:* 1 % of 1,000/s over 10 s: 100 samples, ± 10 %. All groups of the work count it
 * or, when this throws, none: a repeated report counts once.
 */
export function reportCost(
  parts: CostParts,
  groups: string | readonly string[],
  costs: ReportedCost | readonly ReportedCost[],
  options: CostOptions,
): void {
  if (typeof options !== 'object' || options === null) {
    invalid('options', `must be an object like { messages: 10 }, got ${showSent(options)}`);
  }
  const { direction = 'publish', messages = 1, sampled = 1 } = options;
  const names = Array.isArray(groups) ? (groups as readonly string[]) : [groups as string];
  const indexes = [...new Set(names.map((name) => parts.gate.groupIndex(name)))];
  if (direction !== 'publish' && direction !== 'dispatch') {
    invalid('direction', 'must be "publish" or "dispatch"');
  }
  checkAmount('messages', messages);
  if (!(typeof sampled === 'number' && sampled > 0 && sampled <= 1)) {
    invalid('sampled', `must be above 0 and at most 1, got ${showSent(sampled)}`);
  }
  if (costs === undefined) invalid('costs', 'is missing: name at least one cost');
  const all = Array.isArray(costs) ? (costs as readonly ReportedCost[]) : [costs as ReportedCost];
  if (all.length === 0) invalid('costs', 'must name at least one cost');
  const { config, loop } = parts;
  const { coordinator } = loop;
  for (const cost of all) {
    checkCost(cost);
    checkAmount('cost / sampled', costUnits(cost, config.costs) / sampled);
  }
  checkAmount('messages / sampled', messages / sampled);
  if (coordinator === null || !loop.isReady) throw parts.notReady();
  const lanes = indexes.map((index) => laneOf(index, directionIndex(direction)));
  if (!coordinator.costs.hasRoomFor(lanes)) {
    throw new QuotameshError('COSTS_FULL', { max: config.costs.maxLanes, group: names.join(', ') });
  }
  for (const lane of lanes) countCosts(parts, lane, all, { pieces: messages / sampled, sampled });
}

function countCosts(
  parts: CostParts,
  lane: number,
  costs: readonly ReportedCost[],
  { pieces, sampled }: { readonly pieces: number; readonly sampled: number },
): void {
  const { config, loop } = parts;
  loop.serve(lane);
  const nowMs = parts.clock();
  costs.forEach((cost, at) => {
    const backend = cost.backend === undefined ? NO_BACKEND : backendIdOf(config.cluster, cost.backend);
    const units = costUnits(cost, config.costs) / sampled;
    loop.coordinator?.costs.report(lane, backend, units, at === 0 ? pieces : 0, nowMs);
  });
}

const AMOUNTS = ['units', 'readBytes', 'writtenBytes', 'clearedBytes'] as const;
/** Largest amount; sums of larger ones would lose units. */
const AMOUNT_MAX = 1e15;

export function checkCost(cost: ReportedCost, where = ''): void {
  if (typeof cost !== 'object' || cost === null) invalid(`${where}costs`, `must be objects, got ${showSent(cost)}`);
  const unknown = Object.keys(cost).find((key) => key !== 'backend' && !(AMOUNTS as readonly string[]).includes(key));
  if (unknown !== undefined) {
    invalid(where + unknown.slice(0, 80), `is not known; known are backend, ${AMOUNTS.join(', ')}`);
  }
  const { backend } = cost;
  if (backend !== undefined && !(typeof backend === 'string' && GROUP_NAME.matches.test(backend))) {
    invalid(`${where}backend`, `must be ${GROUP_NAME.text}`);
  }
  const given = AMOUNTS.filter((name) => cost[name] !== undefined);
  if (given.length === 0) invalid(where + AMOUNTS.join(', '), 'are all absent: name at least one');
  for (const name of given) checkAmount(where + name, cost[name]);
}

function checkAmount(field: string, amount: unknown): void {
  if (typeof amount === 'number' && amount >= 0 && amount <= AMOUNT_MAX) return;
  invalid(field, `must be a number from 0 to ${AMOUNT_MAX}, got ${showSent(amount)}`);
}

function invalid(field: string, reason: string): never {
  throw new QuotameshError('COST_INVALID', { field, reason });
}
