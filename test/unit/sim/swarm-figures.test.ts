import { describe, expect, it } from 'vitest';
import { World } from '../../../sim/cluster/world.js';
import { figuresBeyond, figuresOf, leastUsed, mostAdmitted } from '../../../sim/swarm/figures.js';
import { SwarmMeter } from '../../../sim/swarm/swarm-meter.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { GATED, SETTINGS } from '../../simulation/settings.js';
import { scaleLimits } from './scale-limits.js';

const NODES = ['a', 'b', 'c'];
const WHOLE_FROM_MS = 6000;
const JUDGED_MS = 5500;

function limitedTo(quota: number): GroupSettings {
  return { ...GATED, quota: { ...GATED.quota, publish: [quota, Infinity] } };
}

/** Three nodes of one group that want twice its quota, with limiters that take `factor` of their limits for the whole. */
function problemsWith(factor: number): readonly string[] {
  const world = new World(9, { ...SETTINGS, groups: [limitedTo(300)] });
  const meter = new SwarmMeter(1, WHOLE_FROM_MS + JUDGED_MS);
  for (const name of NODES) {
    const { limiter } = world.start(name);
    scaleLimits(limiter, factor);
    const ask = () => {
      meter.asked(0, world.nowMs, world.ask(name, 0, 1, 0, false));
      world.queue.after(world.random.exponential(5), ask);
    };
    ask();
  }
  world.runFor(WHOLE_FROM_MS + JUDGED_MS);
  const { settings, nowMs } = world;
  const figures = figuresOf(settings.groups, meter, { fromMs: WHOLE_FROM_MS, untilMs: nowMs });
  return figuresBeyond(settings, figures, NODES.length);
}

describe('the figures after the faults', () => {
  it('keep their bounds in a cluster that works', () => {
    expect(problemsWith(1)).toEqual([]);
  });

  it('break the upper one if all nodes admit 1.4 of their limits', () => {
    const says = /^orders admits 1\.(39|4\d)\d quotas over 5 s, more than 1\.06/;
    expect(problemsWith(1.4)).toEqual([expect.stringMatching(says)]);
  });

  it('break the lower one if all nodes admit 0.7 of their limits', () => {
    const says = /^orders uses 0\.[67]\d\d of min\(quota, demand\), less/;
    expect(problemsWith(0.7)).toEqual([expect.stringMatching(says)]);
  });

  it.each([
    { windowMs: 100, quotas: 4.5 },
    { windowMs: 1000, quotas: 1.35 },
    { windowMs: 5000, quotas: 1.07 },
    { windowMs: 60_000, quotas: 1 + 70 / 12_000 },
  ])(
    'allow $quotas quotas of $windowMs ms, as the table in docs/reference/promises.md says',
    ({ windowMs, quotas }) => {
      expect(mostAdmitted(limitedTo(200), 5, windowMs)).toBeCloseTo(quotas, 10);
    },
  );

  it.each([
    { quota: 400, nodes: 2, used: 0.82 },
    { quota: 165, nodes: 5, used: 0.69 },
    { quota: 100, nodes: 5, used: 0.58 },
    { quota: 30, nodes: 5, used: 0.17 },
  ])('ask of $quota/s on $nodes nodes that $used of it are used', ({ quota, nodes, used }) => {
    expect(leastUsed(limitedTo(quota), nodes, SETTINGS)).toBeCloseTo(used, 2);
  });
});
