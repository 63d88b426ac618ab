import { randomInt } from 'node:crypto';
import { defaultSettings } from '../../../sim/scenario/world-settings.js';
import { runSwarm, type SwarmVerdict } from '../../../sim/swarm.js';
import { EXIT_UNEXPECTED } from '../../errors.js';
import type { SwarmOptions } from '../sim-command.js';
import { ProgressBar } from './progress-bar.js';

/** `quotamesh sim swarm`. */
export async function runSwarms({
  seed,
  runs = seed === undefined ? 100 : 1,
  json = false,
}: SwarmOptions): Promise<void> {
  const first = seed ?? randomInt(0x7fffffff);
  const settings = defaultSettings();
  const bar = new ProgressBar();
  const worst = { whole: 0, split: 0, after: 0 };
  let broken = 0;
  let utilisation = 1;
  for (let run = 0; run < runs; run++) {
    bar.show(run / runs, `seed ${first + run}`);
    const verdict = runSwarm((first + run) >>> 0, settings);
    if (verdict.problems.length > 0) {
      broken++;
      bar.clear();
      process.stderr.write(`${brokenLines(verdict).join('\n')}\n`);
    }
    if (json) process.stdout.write(`${JSON.stringify(verdict)}\n`);
    for (const phase of ['whole', 'split', 'after'] as const)
      worst[phase] = Math.max(worst[phase], verdict.worst[phase]);
    utilisation = Math.min(utilisation, verdict.utilisation);
  }
  bar.clear();
  if (!json) {
    process.stdout.write(
      `seeds ${first} … ${first + runs - 1}: ${runs - broken} of ${runs} kept every promise\n` +
        `worst 5 s ÷ quota: ${worst.whole.toFixed(3)} while whole, ${worst.split.toFixed(3)} while a node was cut off, ` +
        `${worst.after.toFixed(3)} after the faults; least utilisation after them ${(100 * utilisation).toFixed(1)} %\n`,
    );
  }
  if (broken > 0) process.exitCode = EXIT_UNEXPECTED;
}

function brokenLines({ seed, plan, problems }: SwarmVerdict): readonly string[] {
  return [
    `seed ${seed} broke a promise:`,
    ...problems.map((problem) => `  ${problem}`),
    ...plan.map((line) => `    ${line}`),
    `  replay: quotamesh sim swarm --seed ${seed}`,
  ];
}
