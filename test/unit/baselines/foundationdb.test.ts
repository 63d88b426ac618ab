import { describe, expect, test } from 'vitest';
import { ClientWindow, ProxyWindow } from '../../../sim/baselines/foundationdb/release-windows.js';
import { Smoother } from '../../../sim/baselines/foundationdb/smoother.js';
import { TagRates } from '../../../sim/baselines/foundationdb/tag-rates.js';
import { EventQueue } from '../../../sim/cluster/event-queue.js';

interface Clients {
  readonly count: number;
  readonly wantedTps: number;
  readonly fromSec?: number;
}

const COST_TAU_SEC = 10;
/** The loop is at rest well before; the source waits until 900 s. */
const CHANGE_SEC = 200;

/**
 * The mock that the figures of docs/background/foundationdb-tag-throttling.md were made with: a client reads its
 * limit, waits 1 ÷ min(wanted, limit) and starts; servers report their smoothed cost every second; the limit is
 * computed at each reading.
 */
function play(quotaAt: (nowSec: number) => number, pages: number, clients: readonly Clients[], endSec: number) {
  const queue = new EventQueue();
  const rates = new TagRates();
  const servers = new Smoother(COST_TAU_SEC);
  const started: number[] = [];
  const nowSec = () => queue.nowMs / 1000;
  const report = () => {
    rates.setCostRates([servers.rate(nowSec()), 0], nowSec());
    queue.after(1000, report);
  };
  queue.after(1000, report);
  const loop = (wantedTps: number) => {
    const limit = rates.clientLimit([quotaAt(nowSec()), Infinity], nowSec());
    queue.after(1000 / Math.min(wantedTps, limit), () => {
      rates.addTransactions(1, nowSec());
      servers.add(pages, nowSec());
      started.push(nowSec());
      loop(wantedTps);
    });
  };
  for (const { count, wantedTps, fromSec = 0 } of clients) {
    for (let client = 0; client < count; client++) queue.at(fromSec * 1000, () => loop(wantedTps));
  }
  queue.runUntil(endSec * 1000);
  return (fromSec: number, toSec: number) =>
    started.filter((atSec) => atSec >= fromSec && atSec < toSec).length / (toSec - fromSec);
}

/** Greatest and least rate of 5 s from the change on, in quotas. */
function extremes(rate: (fromSec: number, toSec: number) => number, quota: number): [peak: number, trough: number] {
  const windows = Array.from({ length: 55 }, (_, at) => rate(CHANGE_SEC + at, CHANGE_SEC + at + 5) / quota);
  return [Math.max(...windows), Math.min(...windows)];
}

function expectFigure(what: string, measured: number, anchor: number, tolerance = 0.03): void {
  console.log(`fdb client mode, ${what}: ${measured.toFixed(3)} (source: ${anchor})`);
  expect(Math.abs(measured / anchor - 1), what).toBeLessThan(tolerance);
}

describe('the loop of client mode', () => {
  test('a second equal client joins: 5 s peak 1.97, trough 0.71; before that, one quota', () => {
    const join = { count: 1, wantedTps: 200, fromSec: CHANGE_SEC };
    const rate = play(() => 100, 1, [{ count: 1, wantedTps: 200 }, join], CHANGE_SEC + 60);
    const [peak, trough] = extremes(rate, 100);
    expectFigure('steady', rate(150, CHANGE_SEC) / 100, 1, 0.001);
    expectFigure('join, peak', peak, 1.97);
    expectFigure('join, trough', trough, 0.71);
  });

  test.each([
    ['halved', 50, 1.78, 0.54],
    ['doubled', 200, 1.32, null],
  ] as const)('the quota is %s to %i: peak %f', (change, quota, peakAnchor, troughAnchor) => {
    const rate = play(
      (nowSec) => (nowSec < CHANGE_SEC ? 100 : quota),
      1,
      [{ count: 2, wantedTps: 200 }],
      CHANGE_SEC + 60,
    );
    const [peak, trough] = extremes(rate, quota);
    expectFigure(`${change}, peak`, peak, peakAnchor);
    if (troughAnchor !== null) expectFigure(`${change}, trough`, trough, troughAnchor);
  });

  test('the first minute of 2 and of 10 clients', () => {
    const two = play(() => 100, 10, [{ count: 2, wantedTps: 20 }], 60);
    expectFigure('first minute of 2, transactions per second', two(0, 60), 17.6);
    const ten = play(() => 100, 1, [{ count: 10, wantedTps: 20 }], 60);
    expectFigure('first minute of 10', ten(0, 60) / 100, 1.44);
  });

  test('200 clients stay at twice the quota: nobody is given less than 1 per second', () => {
    const rate = play(() => 100, 1, [{ count: 200, wantedTps: 5 }], 50);
    expectFigure('200 clients', rate(40, 50) / 100, 2);
  });

  test('demand 5 and 25 with a quota of 20: the limit is 15', () => {
    const clients = [
      { count: 1, wantedTps: 5 },
      { count: 1, wantedTps: 25 },
    ];
    const rate = play(() => 20, 1, clients, 300);
    expectFigure('5 and 25, together', rate(200, 300), 20);
  });
});

test('below 1 transaction per second nothing is published', () => {
  const rates = new TagRates();
  rates.addTransactions(1, 1);
  expect(rates.target([10, 10], 100)).toBeNull();
  expect(rates.clientLimit([10, 10], 100)).toBe(Infinity);
  expect(rates.proxyLimit([10, 10], 2, 100)).toBe(Infinity);
});

test('the tighter of two quotas is the target: 100 messages/s, 50 kB/s at 1 kB each are 50', () => {
  const rates = new TagRates();
  for (let sec = 1; sec <= 120; sec++) {
    rates.addTransactions(200, sec);
    rates.setCostRates([200, 200_000], sec);
  }
  expect(rates.target([100, 50_000], 120)).toBeCloseTo(50, 0);
});

describe.each([
  ['client', () => new ClientWindow()],
  ['proxy', () => new ProxyWindow()],
] as const)('the release window of a %s', (_name, create) => {
  function started(window: ReturnType<typeof create>, perSecond: number, fromSec: number, toSec: number): number {
    let count = 0;
    for (let at = 0; at < (toSec - fromSec) * perSecond; at++) if (window.tryStart(fromSec + at / perSecond)) count++;
    return count;
  }

  test('10 per second of 20 wanted: 600 a minute, within 10 %', () => {
    const window = create();
    window.setLimit(10, 0);
    expect(Math.abs(started(window, 20, 0, 60) - 600)).toBeLessThan(60);
  });

  test('no limit starts all, what was started before counts when there is one', () => {
    const window = create();
    expect(started(window, 1000, 0, 4)).toBe(4000);
    window.setLimit(100, 4);
    expect(window.tryStart(4.02)).toBe(false);
  });
});

test('a proxy that was idle starts at most 1000 at once over its window, a client two seconds of its limit', () => {
  const burst = (window: ClientWindow | ProxyWindow) => {
    window.setLimit(100, 0);
    window.tryStart(1);
    let count = 0;
    while (window.tryStart(100)) count++;
    return count;
  };
  expect(burst(new ClientWindow())).toBeGreaterThanOrEqual(199);
  expect(burst(new ClientWindow())).toBeLessThanOrEqual(201);
  expect(burst(new ProxyWindow())).toBeGreaterThan(1100);
  expect(burst(new ProxyWindow())).toBeLessThanOrEqual(1200);
});
