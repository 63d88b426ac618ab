import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Punctuality } from '../../sim/live/live-traffic.js';
import type { RunResult } from '../../sim/verdict/run-result.js';
import { COMMAND_FILE } from '../../src/base/package/package-root.js';
import { clusterDepth } from '../../src/core/account/cluster-depth.js';
import { tokensPromises } from '../cluster/tokens-promises.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

type LiveResult = RunResult & { readonly punctuality: Punctuality };

const run = promisify(execFile);
const APART_MAX = 0.01;
/** As in bench/accuracy-live.ts: with more requests unanswered, totals tell of the machine, which also wakes nodes too late. */
const MISSED_MAX = 0.01;
/** A death is noticed within a heartbeat of a second, wherever in it the node died: meanwhile a third is nobody's. */
const HEARTBEAT_APART_MAX = 0.02;

tokensPromises('embedded', async () => 'embedded');
tokensPromises('kafka', async () => ({
  kind: 'kafka',
  brokers: await sharedKafka(),
  name: `tokens-long-${process.pid}`,
}));

describe.each(['moving-demand', 'one-wants-all', 'eighty-twenty', 'killed'])('%s', (name) => {
  test('live as simulated: any 5 s holds three depths more than the quota at most, and as much is used', async () => {
    const file = fileURLToPath(new URL(`../../bench/live/tokens/${name}.yaml`, import.meta.url));
    const live = await played<LiveResult>('live', file);
    const simulated = await played<RunResult>('run', file);
    const apart = admittedOf(live) / admittedOf(simulated) - 1;
    console.log(
      `${name}: ${shown(live)}; ${shown(simulated)}; admitted ${(100 * apart).toFixed(2)} % apart, ` +
        `${(100 * live.punctuality.missedRatio).toFixed(1)} % without an answer`,
    );
    const quota = live.series[0]?.quota[0] as number;
    expect(live.verdict.overAdmission).toBeLessThanOrEqual((3 * clusterDepth(quota, 1)) / (5 * quota));
    if (live.punctuality.missedRatio > MISSED_MAX) return console.log(`${name}: too busy a machine to compare totals`);
    expect(Math.abs(apart)).toBeLessThanOrEqual(name === 'killed' ? HEARTBEAT_APART_MAX : APART_MAX);
  });
});

async function played<Result extends RunResult>(command: 'live' | 'run', file: string): Promise<Result> {
  const { stdout } = await run(process.execPath, [COMMAND_FILE, 'sim', command, file, '--json'], { maxBuffer: 1e8 });
  return JSON.parse(stdout) as Result;
}

function admittedOf({ series, sampleMs }: RunResult): number {
  const rates = Object.values(series[0]?.perNode ?? {}).flatMap(({ admitted }) => admitted);
  return rates.reduce((sum, rate) => sum + (rate * sampleMs) / 1000, 0);
}

function shown({ system, verdict }: RunResult): string {
  const { overAdmission, worstSecond, utilisation } = verdict;
  const [over, used] = [overAdmission, utilisation].map((part) => (100 * part).toFixed(1));
  return `${system} over 5 s ${over} %, worst second ${worstSecond.toFixed(3)}, used ${used} %`;
}
