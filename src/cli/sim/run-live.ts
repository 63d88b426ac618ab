import { constants } from 'node:os';
import { loadScenario } from '../../../sim/scenario/load-scenario.js';
import { shortenScenario } from '../../../sim/scenario/shorten-scenario.js';
import { Ending } from '../../demo/ending.js';
import { QuotameshError } from '../../errors.js';
import { checkLive } from '../../live/check-live.js';
import { LiveRun } from '../../live/live-run.js';
import type { LiveCommandOptions } from '../sim-command.js';
import { ProgressBar } from './progress-bar.js';
import { tellBroken } from './run-one.js';
import { verdictLines } from './verdict-lines.js';
import { writePage } from './write-page.js';

/** `quotamesh sim live`. */
export async function runLive(nameOrFile: string, options: LiveCommandOptions): Promise<void> {
  const { topic, brokers, brokerPid = null, seed, maxRate: requestsPerSecondMax, seconds, json, html } = options;
  checkPlace(options);
  const check = checkLive({ topic, brokerKnown: brokerPid !== null, requestsPerSecondMax });
  const whole = loadScenario(nameOrFile, check);
  const scenario = seconds === undefined ? whole : shortenScenario(whole, seconds);
  const bar = new ProgressBar();
  const onProgress = (part: number) => bar.show(part, scenario.name);
  const run = await LiveRun.prepare(scenario, { topic, brokers: brokers ?? [], brokerPid, seed, onProgress });
  const ending = new Ending(() => run.killAll());
  try {
    const outcome = await Promise.race([run.play(), ending.reached]);
    bar.clear();
    if ('kind' in outcome) {
      process.exitCode = outcome.kind === 'signal' ? 128 + constants.signals[outcome.signal] : 1;
      return;
    }
    const { result, traffic } = outcome;
    if (html !== undefined) await writePage(html, [result]);
    const text = json === true ? JSON.stringify(result) : verdictLines(scenario.says, result).join('\n');
    process.stdout.write(`${text}\n`);
    process.stderr.write(`${trafficLine(traffic)}\n`);
    tellBroken([result]);
  } finally {
    bar.clear();
    await run.leave();
    ending.forget();
  }
}

function checkPlace({ topic, brokers, brokerPid }: LiveCommandOptions): void {
  const wrong =
    topic === 'kafka'
      ? brokers === undefined && '--topic kafka needs --brokers HOST:PORT,…'
      : (brokers ?? brokerPid) !== undefined && '--brokers and --broker-pid go with --topic kafka';
  if (wrong) throw new QuotameshError('USAGE', { reason: wrong });
}

function trafficLine({ late, unanswered }: Awaited<ReturnType<LiveRun['play']>>['traffic']): string {
  const [median, worst] = [late.medianMs.toFixed(1), late.worstMs.toFixed(0)];
  return `requests left ${median} ms (median) to ${worst} ms after their time; ${unanswered} got no answer`;
}
