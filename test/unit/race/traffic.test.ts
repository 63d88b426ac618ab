import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { TRAFFICS, type TrafficName, trafficOf } from '../../../bench/race/traffic.js';

const OPTIONS = {
  perSecond: 1000,
  nodes: 3,
  seed: 1,
  seconds: null,
  traceFile: fileURLToPath(new URL('../../../examples/traces/azure-llm-code-2023.csv', import.meta.url)),
  traceTime: 'TIMESTAMP',
};

test.each(TRAFFICS)('%s is in order, within its time, and the same whenever it is made', async (name) => {
  const [one, other] = [await trafficOf(name, OPTIONS), await trafficOf(name, OPTIONS)];
  expect(one.dueMs.map((dueMs, node) => Buffer.compare(bytesOf(dueMs), bytesOf(other.dueMs[node])))).toEqual([0, 0, 0]);
  for (const dueMs of one.dueMs) {
    const isInOrder = dueMs.every((ms, at) => at === 0 || ms >= dueMs[at - 1]);
    expect([isInOrder, dueMs[0] >= 0, (dueMs.at(-1) as number) <= one.endsMs]).toEqual([true, true, true]);
  }
});

test.each([
  ['steady', 28 * 2000, 1 / 3],
  ['skewed', 22 * 2000, 0.8],
  ['trace', 20 * 1111, 1 / 3],
] as [TrafficName, number, number][])(
  '%s wants what it says, so much of it at the first node',
  async (name, wanted, part) => {
    const { dueMs } = await trafficOf(name, OPTIONS);
    const all = dueMs.reduce((sum, { length }) => sum + length, 0);
    // A Poisson process of 44,000 requests is 0.48 % off by chance; rows of a trace are whole.
    expect(all / wanted).toBeCloseTo(1, name === 'trace' ? 0 : 1);
    expect(dueMs[0].length / all).toBeCloseTo(part, 1);
  },
);

test('bursts are three quotas at one node, then as much over all', async () => {
  const { dueMs, bursts } = await trafficOf('bursts', OPTIONS);
  const due = (node: number, atMs: number) => dueMs[node].filter((ms) => ms === atMs).length;
  expect(bursts.map(({ atMs }) => [due(0, atMs), due(1, atMs), due(2, atMs)])).toEqual([
    [3000, 0, 0],
    [1000, 1000, 1000],
  ]);
});

test('the store is away after eight seconds of load, for four', async () => {
  const { away, measuredFromMs } = await trafficOf('killed', OPTIONS);
  expect([away, measuredFromMs]).toEqual([{ fromMs: 8000, toMs: 12_000 }, 8000]);
});

function bytesOf({ buffer }: Float64Array = new Float64Array()): Uint8Array {
  return new Uint8Array(buffer);
}
