import { expect, test } from 'vitest';
import { MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { GRANTED, Limiter } from '../../../../src/core/limiter/limiter.js';
import { busiest } from '../../../../src/core/target/busiest.js';
import { CostMeter } from '../../../../src/core/target/cost-meter.js';
import { wideId } from '../../../wide-ids.js';
import { ClosedLoop } from './closed-loop.js';
import { casesOf, GTT_CASES, type GttCase, type ProxyLimiterCase } from './gtt-vectors.js';

/** Kinds that are run here, and those that are run elsewhere. */
const RUN_HERE = ['equilibrium', 'lifecycle', 'proxyLimiter', 'releaseWindow', 'topTags', 'latencyTable'];
const RUN_ELSEWHERE: Readonly<Partial<Record<GttCase['kind'], string>>> = {
  proxyOrder: 'test/unit/admission/proxy-vectors.test.ts',
  proxyTable: 'test/unit/admission/proxy-vectors.test.ts',
  endToEnd: 'test/unit/core/machine/target.test.ts',
};

test.each(casesOf('equilibrium'))('$id reaches and holds its equilibrium, not later than the reference', (one) => {
  const loop = new ClosedLoop(one);
  const settled = one.phases.map((phase) => loop.settle(phase));
  settled.forEach((second, at) => {
    const baseline = one.phases[at]?.baselineSettleSec;
    expect(second, `phase ${at + 1}`).toBeGreaterThan(0);
    expect(second, `phase ${at + 1}`).toBeLessThanOrEqual(baseline);
  });
  const baselines = one.phases.map(({ baselineSettleSec }) => baselineSettleSec);
  console.log(`fdb-gtt.json: ${one.id} settles after ${settled.join(' / ')} s (reference ${baselines.join(' / ')} s)`);
});

test.each(casesOf('lifecycle'))('$id', ({ clients: [client], steps }) => {
  const meter = new CostMeter({ smoothingMs: 10_000, forgetAfterMs: 240_000, maxLanes: 10, sampleUnits: 0 });
  let nowMs = 0;
  for (const { op, atSec, expectTagsTracked } of steps) {
    for (; nowMs < atSec * 1000; nowMs += 1000 / client.wantedTps) {
      if (nowMs >= (client.stopAfterSec as number) * 1000) continue;
      for (let tag = 0; tag < (client.tags ?? 1); tag++) meter.report(tag, wideId(1), client.pagesPerTx, 1, nowMs);
    }
    if (op === 'removeExpired') meter.removeSilent(nowMs);
    else if (op !== undefined) throw new Error(`unknown op ${op}`);
    expect(meter.laneCount).toBe(expectTagsTracked);
  }
});

test.each(casesOf('proxyLimiter'))('$id by the limiter', (one) => {
  expectReleased(one);
});

test('window/Simple by the limiter', () => {
  const [window] = casesOf('releaseWindow') as unknown as readonly (ProxyLimiterCase & {
    rateTps: number;
    wantedTps: number;
    expectReleased: number;
  })[];
  if (window === undefined) throw new Error('the case is missing');
  const { rateTps, wantedTps, expectReleased: released } = window;
  const clients = [{ tag: 'A', count: 1, batch: 1, wantedTps }];
  expectReleased({
    ...window,
    kind: 'proxyLimiter',
    ratesTps: { A: rateTps },
    clients,
    expectReleased: { A: released },
  });
});

test.each(casesOf('topTags'))('$id', ({ maxTags, floorPagesPerSec, intervalSec, requests, expectTags }) => {
  const costs = requests.map(({ tag, pages }) => ({ group: tag, cost: pages / intervalSec }));
  expect(busiest(costs, maxTags, floorPagesPerSec).map(({ group }) => group)).toEqual(expectTags);
});

test('several requests of one tag count together, against the floor and in the order', () => {
  const costs = ['A', 'B', 'A', 'C', 'B', 'A'].map((group) => ({ group, cost: 5 }));
  expect(busiest(costs, 2, 10)).toEqual([
    { group: 'A', cost: 15 },
    { group: 'B', cost: 10 },
  ]);
});

/** We keep no table of latencies per group; its bound and its forgetting are those of the table of costs. */
test.each(casesOf('latencyTable'))('$id by the table of costs', (one) => {
  const meter = new CostMeter({ smoothingMs: 10_000, forgetAfterMs: 240_000, maxLanes: one.maxTags, sampleUnits: 0 });
  const lanes = new Map([...'ABC'].map((tag, lane) => [tag, lane]));
  const measure = (tag: string, nowMs: number) => meter.report(lanes.get(tag) as number, wideId(1), 1, 1, nowMs);
  for (const tag of [...(one.measure ?? []), ...(one.measureOnce ?? [])]) measure(tag, 0);
  const { tags = [], sec = 1 } = one.keepMeasuringEverySec ?? {};
  for (let second = 0; second <= (one.durationSec ?? 0); second += sec) {
    for (const tag of tags) measure(tag, second * 1000);
    meter.removeSilent(second * 1000);
  }
  expect(meter.laneCount).toBe(one.expectSize);
});

test('every kind of case is known', () => {
  const counts = new Map<string, number>();
  for (const { kind } of GTT_CASES) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  for (const [kind, count] of counts) {
    const elsewhere = RUN_ELSEWHERE[kind as GttCase['kind']];
    expect(RUN_HERE.includes(kind) || elsewhere !== undefined, `unknown kind "${kind}"`).toBe(true);
    console.log(`fdb-gtt.json: ${count} ${kind} cases ${elsewhere === undefined ? 'run here' : `run in ${elsewhere}`}`);
  }
  expect(GTT_CASES).toHaveLength(29);
});

/** Clients that wait batch / wantedTps, ask, and come back until they are granted, as at the source's proxy. */
function expectReleased({
  ratesTps,
  clients,
  idleBeforeSec = 0,
  durationSec,
  expectReleased: expected,
  tolerance,
}: ProxyLimiterCase): void {
  const tags = Object.keys(ratesTps);
  const limiter = new Limiter(tags.length);
  tags.forEach((tag, lane) => {
    const rate = ratesTps[tag];
    limiter.setLimit(lane, MESSAGES, rate, Math.max(20, rate / 10), 0);
    limiter.setLimit(lane, 1, Infinity, Infinity, 0);
    limiter.validUntilMs.set(lane, Infinity);
  });
  const released = tags.map(() => 0);
  for (const { tag, count, batch, wantedTps } of clients) {
    const lane = tags.indexOf(tag);
    const fromMs = idleBeforeSec * 1000;
    const nextMs = Array.from({ length: count }, () => fromMs + (batch / wantedTps) * 1000);
    for (let nowMs = fromMs; nowMs < fromMs + durationSec * 1000; nowMs += 10) {
      for (let at = 0; at < count; at++) {
        if (nextMs[at] > nowMs || limiter.tryAcquire(lane, batch, 0, true, nowMs) !== GRANTED) continue;
        released[lane] = released[lane] + batch;
        nextMs[at] = nowMs + (batch / wantedTps) * 1000;
      }
    }
  }
  tags.forEach((tag, lane) => {
    const error = Math.abs(expected[tag] - released[lane]);
    expect(error, `${tag}: ${released[lane]} released`).toBeLessThan(tolerance * expected[tag]);
  });
}
