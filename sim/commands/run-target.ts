import { EXIT_UNEXPECTED } from '../../src/base/errors/error-row.js';
import { STRATEGY_NAMES } from '../../src/core/convergence/strategies.js';
import { print, usage } from '../../src/tools/terminal/print.js';
import { ProgressBar } from '../../src/tools/terminal/progress-bar.js';
import { textTable } from '../../src/tools/terminal/text-table.js';
import { type PhaseOutcome, playTargetScenario, type TargetSecond } from '../target/target-run.js';
import type { TargetExpectation, TargetScenario } from '../target/target-scenario.js';
import type { RunOptions } from './sim-command.js';

/** `quotamesh sim run` of a scenario of backends. */
export function runTarget(scenario: TargetScenario, { seed, strategy, json, ...options }: RunOptions): void {
  checkOptions(strategy, options);
  const bar = new ProgressBar();
  const seconds: TargetSecond[] = [];
  const outcomes = playTargetScenario(scenario, strategy, seed, (second) => {
    seconds.push(second);
    bar.show((second.phase - 1) / scenario.phases.length, `phase ${second.phase}, ${second.second} s`);
  });
  bar.clear();
  const phases = outcomes.map((outcome, at) => ({ ...outcome, isKept: isKept(scenario, at, outcome) }));
  const result = { scenario: scenario.name, strategy, seed, phases, seconds };
  print(...(json === true ? [JSON.stringify(result)] : linesOf(scenario, result)));
  phases.forEach(({ isKept: kept, settledSec }, at) => {
    if (kept) return;
    const came = settledSec < 0 ? 'never' : `from ${settledSec} s on`;
    const within = scenario.phases[at]?.settleWithinSec;
    const which = `${scenario.name}, ${strategy}, seed ${seed}, phase ${at + 1}`;
    process.stderr.write(`missed: ${which}: held ${came}, expected within ${within} s\n`);
    process.exitCode = EXIT_UNEXPECTED;
  });
}

function checkOptions(strategy: string, { seconds, html }: Pick<RunOptions, 'seconds' | 'html'>): void {
  const wrong = !STRATEGY_NAMES.includes(strategy)
    ? `--strategy: scenarios of backends are played on ${STRATEGY_NAMES.join(', ')}, not on ${JSON.stringify(strategy)}`
    : (seconds ?? html) !== undefined && '--seconds and --html do not go with scenarios of backends';
  if (wrong) throw usage(wrong);
}

interface TargetResult {
  readonly strategy: string;
  readonly seed: number;
  readonly phases: readonly (PhaseOutcome & { readonly isKept: boolean })[];
  readonly seconds: readonly TargetSecond[];
}

function isKept({ phases }: TargetScenario, at: number, { settledSec }: PhaseOutcome): boolean {
  const phase = phases[at];
  if (phase === undefined || phase.expect.length === 0) return true;
  return settledSec > 0 && settledSec <= phase.settleWithinSec;
}

function linesOf({ name, says, phases }: TargetScenario, { strategy, seed, ...result }: TargetResult): string[] {
  return [
    `${name}: ${says}`,
    `quotamesh ${strategy}, seed ${seed}`,
    ...result.phases.flatMap(({ settledSec, lastedSec, reached, isKept: kept }, at) => {
      const { expect = [], settleWithinSec } = phases[at] ?? {};
      if (expect.length === 0) return [`phase ${at + 1}: ${lastedSec} s`];
      const when = settledSec < 0 ? `did not hold in ${lastedSec} s` : `held from ${settledSec} s on`;
      return [
        `phase ${at + 1}: ${when} (expected within ${settleWithinSec} s)${kept ? '' : '  missed'}`,
        ...expect.map((one, index) => `  ${expectedText(one)}, last ${shown(reached[index] ?? 0)}`),
      ];
    }),
    '',
    ...secondsTable(result.seconds),
    '',
    'Rates per second. A queue of 100 % stands at its target: the backend can bear just what it does.',
  ];
}

function expectedText({ what, group, value, tolerance }: TargetExpectation): string {
  const around = tolerance === 0 || value === Infinity ? '' : ` ± ${100 * tolerance} %`;
  return `${what}${group === null ? '' : ` of ${group}`} ${shown(value)}${around}`;
}

/** Seconds of every phase that are shown, with the last. */
const SHOWN_SECONDS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300];

function secondsTable(seconds: readonly TargetSecond[]): readonly string[] {
  const groups = Object.keys(seconds[0]?.groups ?? {});
  const head = ['Phase', 'Second', ...groups.flatMap((group) => [`${group} target`, `${group} admitted`])];
  const rows = seconds
    .filter(({ phase, second }, at) => SHOWN_SECONDS.includes(second) || seconds[at + 1]?.phase !== phase)
    .map(({ phase, second, groups: figures, backends }) => {
      const [fullest, level] = Object.entries(backends).reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0]);
      const cells = Object.values(figures).flatMap(({ target, admitted, busy }) => {
        return [`${shown(target)}${busy ? ' *' : '  '}`, String(admitted)];
      });
      return [String(phase), String(second), ...cells, `${Math.round(100 * level)} % ${fullest}`];
    });
  return [...textTable([...head, 'Fullest queue'], rows, head), '* held down by saturated backends'];
}

function shown(rate: number): string {
  if (rate === Infinity) return 'unlimited';
  return Number.isInteger(rate) ? String(rate) : rate.toFixed(2);
}
