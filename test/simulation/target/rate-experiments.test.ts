import { expect, test } from 'vitest';
import { type System, systemNamed } from '../../../sim/systems.js';
import { RATE_EXPERIMENTS, slowClients } from '../../../sim/target/rate-experiments.js';
import { stableThroughput } from '../../../sim/target/stable-throughput.js';
import { partOf, someOf } from '../../property/seed.js';

const MAX_MIN = systemNamed('max-min') as System;

/** 20 slow clients show what 50 do in a sixth of the time; docs/reference/accuracy.md has 50 of them, test/long 200. */
const PLAYED = RATE_EXPERIMENTS.map((each) => {
  return each.name === 'slow clients' ? { ...each, play: (system: System) => slowClients(system, 20) } : each;
});

test.each(someOf(PLAYED))('$name: $says', ({ name, baseline, anchor, atMost, atLeast, play }) => {
  const [ours, theirs] = [play(MAX_MIN), play(systemNamed(baseline) as System)];
  console.log(`${name}: max-min ${ours.toFixed(3)}, ${baseline} ${theirs.toFixed(3)} (the source: ${anchor})`);
  if (atMost !== undefined) {
    expect(ours).toBeLessThanOrEqual(atMost);
    expect(theirs).toBeGreaterThan(atMost);
  }
  if (atLeast !== undefined) {
    expect(ours).toBeGreaterThanOrEqual(atLeast);
    expect(theirs).toBeLessThan(atLeast);
  }
});

/** The source's 20 minutes are those of docs/reference/accuracy.md, which test:long computes anew. */
test('run/ExpectStableThroughput on ten nodes: within 2 %', () => {
  const ratio = stableThroughput('max-min', partOf(300));
  console.log(`run/ExpectStableThroughput: ${ratio.toFixed(4)} of the quota over ${partOf(300)} s`);
  expect(Math.abs(ratio - 1)).toBeLessThanOrEqual(0.02);
});
