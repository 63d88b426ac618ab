import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Random } from '../../../sim/cluster/random.js';
import { loadConfig } from '../../../src/config/files/load-config.js';
import { judge } from '../../../src/tools/demo/measure/verdict.js';
import { DEMO_CONFIG_FILE, TRACE_FILE } from '../../../src/tools/demo/processes/state-folder.js';
import { readTrace } from '../../../src/tools/demo/traffic/trace.js';
import { someOf } from '../../property/seed.js';
import { demonstrateVirtually } from './virtual-cluster.js';

/** Requests are counted whole, so a figure may be the bound itself, but for rounding. */
const ROUNDING = 1e-12;

const CONFIG = parse(readFileSync(DEMO_CONFIG_FILE, 'utf8'));

async function demonstrate(nodes: number, seed: number, config: Readonly<Record<string, unknown>> = CONFIG) {
  const { groups } = await loadConfig({ file: DEMO_CONFIG_FILE });
  const [{ name, quota }] = groups;
  // The split of the arrivals and the jitter of the clients, the same in every run.
  const random = new Random(seed);
  return demonstrateVirtually({
    config,
    group: name,
    quotaPerSecond: quota.publish,
    trace: await readTrace(TRACE_FILE),
    nodes,
    forMs: 20_001,
    random: () => random.next(),
  });
}

describe('the demonstration in virtual time, examples/demo.yaml', () => {
  test.each(someOf([1, 2]))('keeps its three promises, seed %i', async (seed) => {
    const measurement = await demonstrate(3, seed);
    const { utilisation, overAdmission, worstSecond, jain } = measurement;
    console.log(`[demo, virtual] seed ${seed}: ${JSON.stringify({ utilisation, overAdmission, worstSecond, jain })}`);
    expect(judge(measurement).filter(({ kept }) => !kept)).toEqual([]);
    expect(measurement.secondsAboveQuota).toBeGreaterThanOrEqual(0.5);
  });

  // Its demand moves from node to node within some ten milliseconds, and a small bucket has little room for what is left.
  test('with tokens and a burst of 100 ms, by the default timing: as exact as one bucket', async () => {
    const [[name, { quota }]] = Object.entries(CONFIG.groups) as [[string, { quota: object }]];
    const config = { cluster: CONFIG.cluster, groups: { [name]: { quota, burst: '100ms' } } };
    // A node alone is one bucket for all.
    const central = await demonstrate(1, 1, config);
    for (const seed of someOf([1, 2, 3, 4, 5, 6, 7, 8, 9])) {
      const { utilisation, overAdmission, worstSecond, jain } = await demonstrate(3, seed, config);
      console.log(`[demo, tokens] seed ${seed}: ${JSON.stringify({ utilisation, overAdmission, worstSecond, jain })}`);
      expect(utilisation).toBeGreaterThanOrEqual(central.utilisation - 0.015);
      expect(overAdmission).toBeLessThanOrEqual(central.overAdmission + 0.01 + ROUNDING);
      expect(worstSecond).toBeLessThanOrEqual(central.worstSecond + 0.05);
      expect(jain).toBeGreaterThanOrEqual(0.97);
    }
  });

  // What the measure itself makes of the best there can be: one node that holds the whole quota.
  test('a single limiter measures 100 % ± 1.5', async () => {
    const { utilisation } = await demonstrate(1, 1);
    expect(Math.abs(utilisation - 1)).toBeLessThan(0.015);
  });
});
