import { type System, systemNamed } from '../systems.js';
import { builtInTargetNames, loadBuiltInTarget } from './load-target-scenario.js';
import { RATE_EXPERIMENTS } from './rate-experiments.js';
import { stableThroughput } from './stable-throughput.js';
import { playTargetScenario } from './target-run.js';
import type { TargetScenario } from './target-scenario.js';

const SHOWN = ['client-rate', 'max-min'] as const;

/** Writes the part of docs/reference/accuracy.md about target rates. */
export function targetSection(): string {
  return [
    'FoundationDB’s own unit scenarios (`quotamesh sim run gtt/…`), played on the production core: every client is a node that is paced by its',
    'share, asks its limiter and reports its costs; one node reads the mock backends’ queues once a second. Settled is the first of ten checks, a second',
    'apart, in which every expected figure held within 10 %. The reference is a re-implementation of FoundationDB 7.4 (7.3 by quota).',
    'Where a queue had to fill first, nobody can know earlier that it will.',
    '',
    '| scenario | phase | reference | `client-rate` | `max-min` | a queue had to fill |',
    '| --- | ---: | ---: | ---: | ---: | --- |',
    ...builtInTargetNames().map(loadBuiltInTarget).flatMap(scenarioRows),
    '',
    'What goes wrong with FoundationDB’s hand-out, on the same clients. The source’s figures were found with clients that pace themselves;',
    'the baseline here has its own limiter (docs/decisions/0013).',
    '',
    '| experiment | the source | its baseline here | `client-rate` | `max-min` | ours must |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...RATE_EXPERIMENTS.map(({ says, anchor, baseline, atMost, atLeast, play }) => {
      const on = (name: string) => play(systemNamed(name) as System).toFixed(3);
      const bound = atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`;
      const ours = SHOWN.map(on).join(' | ');
      return `| ${says} | ${anchor} | ${on(baseline)} (\`${baseline}\`) | ${ours} | ${bound} |`;
    }),
    '',
    'ExpectStableThroughput (100 actors of 4/s with 5 reads each, quota 1,000 pages/s, 20 minutes after 10 s), admitted ÷ quota:',
    `${SHOWN.map(stableText).join(', ')}; the source allows 0.7 to 1.3, ours must stay within 0.98 to 1.02.`,
    '',
  ].join('\n');
}

function stableText(strategy: string): string {
  return `\`${strategy}\` ${stableThroughput(strategy).toFixed(4)}`;
}

function scenarioRows(scenario: TargetScenario): string[] {
  const outcomes = SHOWN.map((strategy) => playTargetScenario(scenario, strategy));
  return scenario.phases.map(({ settleWithinSec }, at) => {
    const settled = outcomes.map((phases) => {
      const seconds = phases[at]?.settledSec ?? -1;
      return seconds < 0 ? 'never' : `${seconds} s`;
    });
    const filled = outcomes.some((phases) => phases[at]?.hadToFill === true);
    return `| ${scenario.name} | ${at + 1} | ${settleWithinSec} s | ${settled.join(' | ')} | ${filled ? 'yes' : ''} |`;
  });
}
