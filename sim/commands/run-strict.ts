import { EXIT_UNEXPECTED } from '../../src/base/errors/error-row.js';
import { exhaust, SMALL_WORLDS } from '../strict/exhaust.js';
import { playStrict, type StrictVerdict } from '../strict/play-strict.js';
import type { StrictOptions } from './sim-command.js';

/** Orders of actions are played up to this length. */
const DEPTH_MOST = 40;

export async function runStrict({ seeds, from, worlds, json = false }: StrictOptions): Promise<void> {
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
