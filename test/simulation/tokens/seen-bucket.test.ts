import { expect, test } from 'vitest';
import { runScenario } from '../../../sim/run/run-scenario.js';
import { parseScenario } from '../../../sim/scenario/load-scenario.js';
import { systemNamed } from '../../../sim/systems.js';
import type { BucketSeries } from '../../../sim/verdict/run-result.js';

const SECONDS = 10;

/** Two nodes want more than the quota together, and one nothing. */
function bucketOf(group: string, name = 'max-min'): BucketSeries | undefined {
  const text = `
name: seen
says: A busy group.
durationSeconds: ${SECONDS}
nodes: 3
quota: { messagesPerSecond: 1000 }
load: [{ kind: poisson, nodes: n1, ratePerSecond: 1000 }, { kind: poisson, nodes: n2, ratePerSecond: 500 }]
group: ${group}
`;
  return runScenario(parseScenario(text, 'seen'), systemNamed(name)!, 1).series[0]?.bucket;
}

test('a run shows the bucket that its nodes share: level, depth, set point, correction, and who was charged', () => {
  const { tokens, depth, setPoint, correction, charged } = bucketOf('{}') as BucketSeries;
  const at = (5 * tokens.length) / SECONDS;
  expect([depth[at], setPoint[at]]).toEqual([100, 35]);
  // A busy bucket is at its set point, within the noise of three nodes.
  const busy = tokens.slice(at) as number[];
  expect(Math.abs(busy.reduce((sum, each) => sum + each, 0) / busy.length - 35)).toBeLessThan(15);
  // Each is rounded to a thousandth.
  const apart = busy.map((each, index) => Math.abs((correction[at + index] as number) - (each - 35)));
  expect(Math.max(...apart)).toBeLessThan(0.002);
  expect(charged.n1?.at(-1)).toEqual(expect.any(Number));
  expect(charged.n3?.every((units) => units === null)).toBe(true);
});

test.each([
  ['{ smoothingMs: 500 }', 'max-min'],
  ['{}', 'pulsar'],
])('with %s of %s there is none', (group, system) => {
  expect(bucketOf(group, system)).toBeUndefined();
});
