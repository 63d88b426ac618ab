import { constants } from 'node:os';
import { DemoEnding } from '../../src/tools/demo/demonstration.js';
import { print, usage } from '../../src/tools/terminal/print.js';
import { ProgressBar } from '../../src/tools/terminal/progress-bar.js';
import { checkLive } from '../live/check-live.js';
import { LiveRun } from '../live/live-run.js';
import type { Punctuality } from '../live/live-traffic.js';
import { loadScenario } from '../scenario/load-scenario.js';
import { shortenScenario } from '../scenario/shorten-scenario.js';
import { tellBroken } from './run-one.js';
import type { LiveCommandOptions } from './sim-command.js';
import { verdictLines } from './verdict-lines.js';
import { writePage } from './write-page.js';

export async function runLive(nameOrFile: string, options: LiveCommandOptions): Promise<void> {
  const { topic, brokers, brokerPid = null, seed, maxRate: requestsPerSecondMax, seconds, json, html } = options;
  checkAddress(options);
  const check = checkLive({ topic, brokerKnown: brokerPid !== null, requestsPerSecondMax });
  const whole = loadScenario(nameOrFile, check);
  const scenario = seconds === undefined ? whole : shortenScenario(whole, seconds);
  const bar = new ProgressBar();
  const onProgress = (part: number) => bar.show(part, scenario.name);
  let run: LiveRun | undefined;
  const ending = new DemoEnding(() => run?.killAll());
  try {
    run = await LiveRun.prepare(scenario, { topic, brokers: brokers ?? [], brokerPid, seed, onProgress });
    const outcome = await Promise.race([run.play(), ending.reached]);
    bar.clear();
    if ('kind' in outcome) {
      process.exitCode = outcome.kind === 'signal' ? 128 + constants.signals[outcome.signal] : 1;
      return;
    }
    const { result, punctuality } = outcome;
    if (html !== undefined) await writePage(html, [result]);
    print(...(json === true ? [JSON.stringify({ ...result, punctuality })] : verdictLines(scenario.says, result)));
    process.stderr.write(`${punctualityLine(punctuality)}\n`);
    tellBroken([result]);
  } finally {
    bar.clear();
    const left = await run?.leave();
    if (left) process.stderr.write(`quotamesh: ${left}\n`);
    ending.forget();
  }
}

function checkAddress({ topic, brokers, brokerPid }: LiveCommandOptions): void {
  const wrong =
    topic === 'kafka'
      ? brokers === undefined && '--topic kafka needs --brokers HOST:PORT,…'
      : (brokers ?? brokerPid) !== undefined && '--brokers and --broker-pid go with --topic kafka';
  if (wrong) throw usage(wrong);
}

/** Part above which the machine is measured, not the nodes. */
const MISSED_MAX = 0.01;

function punctualityLine({ medianLateMs, worstLateMs, missedRatio }: Punctuality): string {
  const left = `requests left ${medianLateMs.toFixed(1)} ms (median) to ${worstLateMs.toFixed(0)} ms after their time`;
  const missed = `${(100 * missedRatio).toFixed(1)} % got no answer in time`;
  const hint = '; unless nodes were frozen, this machine is too busy for the scenario';
  return `${left}, ${missed}${missedRatio > MISSED_MAX ? hint : ''}`;
}
