import { EXIT_UNEXPECTED } from '../../src/base/errors/error-row.js';
import { didYouMean } from '../../src/base/input/nearest-name.js';
import { print, usage } from '../../src/tools/terminal/print.js';
import { ProgressBar } from '../../src/tools/terminal/progress-bar.js';
import { describeBroken } from '../run/expectations.js';
import { runScenario } from '../run/run-scenario.js';
import { shortenScenario } from '../scenario/shorten-scenario.js';
import { SYSTEM_NAMES, type System, systemNamed } from '../systems.js';
import { loadAnyScenario } from '../target/load-target-scenario.js';
import type { RunResult } from '../verdict/run-result.js';
import type { RunOptions } from './sim-command.js';
import { verdictLines } from './verdict-lines.js';
import { writePage } from './write-page.js';

export async function runOne(nameOrFile: string, options: RunOptions): Promise<void> {
  const { seed, strategy, seconds, json, html } = options;
  const system = systemOrThrow(strategy);
  const loaded = loadAnyScenario(nameOrFile);
  if (loaded.kind === 'backends') return (await import('./run-target.js')).runTarget(loaded.scenario, options);
  const whole = loaded.scenario;
  const scenario = seconds === undefined ? whole : shortenScenario(whole, seconds);
  const bar = new ProgressBar();
  const result = runScenario(scenario, system, seed, (part) => bar.show(part, scenario.name));
  bar.clear();
  if (html !== undefined) await writePage(html, [result]);
  print(...(json === true ? [JSON.stringify(result)] : verdictLines(scenario.says, result)));
  tellBroken([result]);
}

/** Reports missed expectations, and ends with 1. */
export function tellBroken(results: readonly RunResult[]): void {
  for (const { scenario, system, seed, expectations } of results) {
    for (const expectation of expectations.filter(({ isKept }) => !isKept)) {
      process.stderr.write(`missed: ${scenario}, ${system}, seed ${seed}: ${describeBroken(expectation)}\n`);
      process.exitCode = EXIT_UNEXPECTED;
    }
  }
}

function systemOrThrow(name: string): System {
  const system = systemNamed(name);
  if (system !== undefined) return system;
  const near = didYouMean(name, SYSTEM_NAMES) || `There are ${SYSTEM_NAMES.join(', ')}.`;
  throw usage(`--strategy: no system is named ${JSON.stringify(name)}. ${near}`);
}
