import { print } from '../../src/tools/terminal/print.js';
import { ProgressBar } from '../../src/tools/terminal/progress-bar.js';
import { textTable } from '../../src/tools/terminal/text-table.js';
import { NOT_PLAYED } from '../run/play-happenings.js';
import { runScenario } from '../run/run-scenario.js';
import { loadScenario } from '../scenario/load-scenario.js';
import { SYSTEMS, shortName } from '../systems.js';
import { formatMetric, METRICS, meanOf } from '../verdict/metric-table.js';
import type { RunResult } from '../verdict/run-result.js';
import { tellBroken } from './run-one.js';
import type { CompareOptions } from './sim-command.js';
import { writePage } from './write-page.js';

export async function compareSystems(nameOrFile: string, { seeds, json, html }: CompareOptions): Promise<void> {
  const scenario = loadScenario(nameOrFile);
  const bar = new ProgressBar();
  const results: RunResult[] = [];
  const firstSeed: RunResult[] = [];
  const total = SYSTEMS.length * seeds;
  for (const system of SYSTEMS) {
    for (let seed = 1; seed <= seeds; seed++) {
      const done = results.length;
      const result = runScenario(scenario, system, seed, (part) => bar.show((done + part) / total, system.name));
      if (seed === 1 && html !== undefined) firstSeed.push(result);
      // Tables do not read series, which would fill the memory.
      results.push({ ...result, series: [] });
    }
  }
  bar.clear();
  if (html !== undefined) await writePage(html, firstSeed);
  const head = seeds === 1 ? 'seed 1' : `means of seeds 1 … ${seeds}; "never" if one of them never`;
  if (json === true) print(JSON.stringify(results));
  else print(`${scenario.name}: ${scenario.says}`, head, '', ...tableOf(results), ...notPlayed(results));
  tellBroken(results);
}

function tableOf(results: readonly RunResult[]): readonly string[] {
  const titles = METRICS.map(({ title }) => title);
  const rows = SYSTEMS.map((system) => {
    const own = results.filter((result) => shortName(result.system) === shortName(system.name));
    const verdicts = own.map(({ verdict }) => verdict);
    return [shortName(system.name), ...METRICS.map((metric) => formatMetric(metric, meanOf(metric, verdicts)))];
  });
  return textTable(['System', ...titles], rows, titles);
}

/** Lists what a system was spared, lest it look tested. */
function notPlayed(results: readonly RunResult[]): readonly string[] {
  const spared = results.filter(({ happenings }) => happenings.some(({ says }) => says.startsWith(NOT_PLAYED)));
  const names = [...new Set(spared.map(({ system }) => shortName(system)))];
  return names.length === 0 ? [] : ['', `Spared what their models do not have (see \`sim run\`): ${names.join(', ')}`];
}
