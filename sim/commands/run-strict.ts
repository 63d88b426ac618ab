import { EXIT_UNEXPECTED } from '../../src/base/errors/error-row.js';
import { exhaust, SMALL_WORLDS } from '../strict/exhaust.js';
import { playKeys } from '../strict/keyed/play-keys.js';
import { playLiveStrict } from '../strict/live/live-strict.js';
import { calmBudget, playBudget } from '../strict/play-budget.js';
import { calmSlots, playSlots } from '../strict/play-slots.js';
import { playStrict, type StrictVerdict } from '../strict/play-strict.js';
import { usedTable } from '../strict/used-table.js';
import type { StrictOptions } from './sim-command.js';

/** Orders of actions are played up to this length. */
const DEPTH_MOST = 40;

export async function runStrict({
  seeds,
  from,
  worlds,
  live,
  used: isUsed = false,
  concurrency: isConcurrency = false,
  keys: isKeys = false,
  budget: isBudget = false,
  json = false,
}: StrictOptions): Promise<void> {
  if (live !== undefined) return runLive(live, json);
  if (isUsed) return printUsed(json);
  if (isBudget) return runBudgets(from, seeds, json);
  if (isKeys) return runKeys(from, seeds, json);
  if (isConcurrency) return runSlots(from, seeds, json);
  const sums = { over: 0, admitted: 0, central: 0 };
  for (let seed = from; seed < from + seeds; seed++) {
    const verdict = playStrict(seed);
    if (verdict.over > 0) sums.over++;
    sums.admitted += verdict.admitted;
    sums.central += verdict.central;
    if (json) process.stdout.write(`${JSON.stringify(verdict)}\n`);
    if (verdict.over > 0) process.stderr.write(`${overLine(verdict)}\n`);
  }
  const used = ((100 * sums.admitted) / Math.max(1, sums.central)).toFixed(1);
  const line = `seeds ${from} … ${from + seeds - 1}: ${sums.over} admitted more than one central bucket would; used ${used} % of it`;
  if (!json) process.stdout.write(`${line}\n`);
  const broken = worlds === undefined ? 0 : exhaustAll(worlds, json);
  if (sums.over + broken > 0) process.exitCode = EXIT_UNEXPECTED;
}

/** Plays slots, and says what a busy cluster holds of them. */
function runSlots(from: number, seeds: number, json: boolean): void {
  let over = 0;
  for (let seed = from; seed < from + seeds; seed++) {
    const verdict = playSlots(seed);
    if (json) process.stdout.write(`${JSON.stringify(verdict)}\n`);
    if (verdict.over === 0) continue;
    over++;
    process.stderr.write(`seed ${seed}: ${verdict.over} slots over from ${verdict.firstOverMs} ms on\n`);
  }
  const { used } = calmSlots({ nodes: 5, slots: 20, heldMs: 500, delayMs: 25 });
  const line = `seeds ${from} … ${from + seeds - 1}: ${over} held more slots than there are`;
  const calm = `; without faults ${(100 * used).toFixed(1)} % of 20 are held by 5 nodes, 25 ms away`;
  if (!json) process.stdout.write(`${line}${calm}\n`);
  if (over > 0) process.exitCode = EXIT_UNEXPECTED;
}

/** Plays slots of keys: none may be over, and no row be left. */
function runKeys(from: number, seeds: number, json: boolean): void {
  let [wrong, entered, begunAgain] = [0, 0, 0];
  for (let seed = from; seed < from + seeds; seed++) {
    const verdict = playKeys(seed);
    if (json) process.stdout.write(`${JSON.stringify(verdict)}\n`);
    entered += verdict.entered;
    begunAgain += verdict.begunAgain;
    if (verdict.over + verdict.left === 0) continue;
    wrong++;
    process.stderr.write(`seed ${seed}: ${verdict.over} slots over, ${verdict.left} rows and lanes left\n`);
  }
  const line = `seeds ${from} … ${from + seeds - 1}: ${wrong} held more slots of a key than there are, or left its rows`;
  if (!json) process.stdout.write(`${line}; ${entered} entered, ${begunAgain} times keys were used again\n`);
  if (wrong > 0) process.exitCode = EXIT_UNEXPECTED;
}

/** Plays budgets, and says what can be spent of one. */
function runBudgets(from: number, seeds: number, json: boolean): void {
  let over = 0;
  for (let seed = from; seed < from + seeds; seed++) {
    const verdict = playBudget(seed);
    if (json) process.stdout.write(`${JSON.stringify(verdict)}\n`);
    if (verdict.over === 0) continue;
    over++;
    process.stderr.write(`seed ${seed}: ${verdict.over} tokens over from ${verdict.firstOverMs} ms on\n`);
  }
  const { used } = calmBudget({ nodes: 7, budget: 20_000, delayMs: 50 });
  const line = `seeds ${from} … ${from + seeds - 1}: ${over} spent more than the budget of a month`;
  const calm = `; without faults 7 nodes, 50 ms away, spend ${(100 * used).toFixed(2)} % of 20,000`;
  if (!json) process.stdout.write(`${line}${calm}\n`);
  if (over > 0) process.exitCode = EXIT_UNEXPECTED;
}

function printUsed(json: boolean): void {
  if (!json) process.stdout.write('nodes  depth  delay  used: waiting a round trip, at once\n');
  for (const row of usedTable()) {
    const { nodes, depthSeconds, delayMs, waiting, atOnce } = row;
    const [waits, not] = [waiting, atOnce].map((part) => `${(100 * part).toFixed(1)} %`.padStart(8));
    const line = `${String(nodes).padStart(5)} ${`${depthSeconds} s`.padStart(6)} ${`${delayMs} ms`.padStart(6)} ${waits} ${not}`;
    process.stdout.write(`${json ? JSON.stringify(row) : line}\n`);
  }
}

/** Plays the bucket on real processes. */
async function runLive(processes: number, json: boolean): Promise<void> {
  const plan = { processes, seconds: 30, perSecond: 500, depth: 150, load: 1.2, waitMs: 100 };
  const verdict = await playLiveStrict(plan);
  const { asked, granted, possible, over } = verdict;
  const used = ((100 * granted) / Math.min(asked, possible)).toFixed(1);
  const line = `${processes} processes, 500/s, burst 150: asked ${asked}, granted ${granted} (${used} %), ${over} over`;
  process.stdout.write(`${json ? JSON.stringify(verdict) : line}\n`);
  if (over > 0) process.exitCode = EXIT_UNEXPECTED;
}

function overLine({ seed, plan, over, firstOverMs }: StrictVerdict): string {
  return `seed ${seed}: ${over} tokens over from ${firstOverMs} ms on: ${plan}`;
}

/** Returns how many of the small worlds are broken. */
function exhaustAll(statesMost: number, json: boolean): number {
  let count = 0;
  for (const [name, bounds] of Object.entries(SMALL_WORLDS)) {
    const { states, depth, isWhole, broken } = exhaust(bounds, DEPTH_MOST, statesMost);
    if (broken !== null) count++;
    if (json) process.stdout.write(`${JSON.stringify({ name, states, depth, isWhole, broken })}\n`);
    else process.stdout.write(`${name}: ${states} states, every order of ${depth} actions${brokenText(broken)}\n`);
  }
  return count;
}

function brokenText(broken: ReturnType<typeof exhaust>['broken']): string {
  return broken === null ? '' : `: ${broken.says} after ${broken.actions.join(', ')}`;
}
