import { describe, expect, test } from 'vitest';
import type { BusyOnBackends } from '../../../src/base/ports/telemetry.js';
import { backendIdOf, groupIdOf } from '../../../src/core/base/ids.js';
import { backendRecordKey, NOTHING_REPORTED, type ReportRow } from '../../../src/core/base/protocol/record.js';
import { GroupTable } from '../../../src/node/groups/group-table.js';
import { BusyWatch } from '../../../src/node/status/busy-watch.js';
import { describeBackends } from '../../../src/node/status/describe-backends.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';
import { OneNode } from '../core/machine/one-node.js';

const PASS_MS = 5000;
const ROWS_PER_RECORD = 64;

/** A node that is told of the costs on `db` by the reports of another one; time passes in calls of `look`. */
function scene(names: readonly string[], { tells = 'own', backends = ['db'] } = {}) {
  const node = OneNode.ready({ groups: names.map((name) => ({ ...GROUP, name })) });
  node.read(node.by('b', 'node'));
  const health = { kind: 'ratio', ratio: 1 } as const;
  for (const backend of tells === 'own' ? backends : [])
    node.step({ kind: 'backend-reported', backend, zone: 'z', health });
  node.echo();
  const groups = new GroupTable(
    names.map((name) => ({ name, mode: 'enforce', shadow: null }) as never),
    (name) => name,
  );
  const loop = { coordinator: node.coordinator, isReady: true } as never;
  const lines: unknown[] = [];
  const events: BusyOnBackends[] = [];
  const watch = new BusyWatch(
    { config: SETTINGS as never, groups, loop },
    {
      log: (level, message, facts) => void lines.push({ level, message, ...facts }),
      busyOnBackends: (busy) => void events.push(busy),
    },
  );
  let nowMs = 0;
  return {
    node,
    watch,
    lines,
    events,
    parts: { loop, groups },
    report(costs: Readonly<Record<string, number>>) {
      const rows = Object.entries(costs).map(([group, cost]) => rowOf(group, cost, backends));
      for (let bundle = 0; bundle === 0 || bundle * ROWS_PER_RECORD < rows.length; bundle++) {
        const told = rows.slice(bundle * ROWS_PER_RECORD, (bundle + 1) * ROWS_PER_RECORD);
        node.read(node.report('b', told, { bundle }));
      }
    },
    /** A whole pass over a few lanes. */
    look() {
      nowMs += PASS_MS;
      watch.round(nowMs);
    },
    round: () => watch.round(nowMs++),
  };
}

function rowOf(group: string, cost: number, names: readonly string[]): ReportRow {
  const backends = names.map((name) => ({ backend: backendIdOf(SETTINGS.cluster, name), cost }));
  const costs = { transactions: 1, backends };
  const groupId = groupIdOf(SETTINGS.cluster, group);
  return { ...NOTHING_REPORTED, groupId, direction: 1, usageMessages: 1, demandMessages: 1, costs };
}

describe('groups that are busy on a backend', () => {
  test('are all named every five seconds, the costliest first, with their parts', () => {
    const costs = { orders: 50, mail: 25, audit: 10, search: 6, feed: 4, images: 3, jobs: 1.01, rare: 0.99 };
    const { report, look, round, events, lines, watch } = scene(Object.keys(costs));
    report(costs);
    look();
    for (let at = 0; at < PASS_MS; at++) round();
    expect(events).toHaveLength(1);
    round();
    look();
    expect(events).toHaveLength(3);
    const db = { backend: 'db', direction: 'dispatch' };
    // More than the five that are displayed; what costs less than a hundredth is not busy.
    const busy = Object.entries(costs)
      .slice(0, -1)
      .map(([group, cost]) => {
        return { ...db, group, costPerSecond: cost, busyness: cost / 100 };
      });
    for (const event of events) expect(event).toEqual({ groups: busy, leftOut: 0 });
    expect(lines[2]).toEqual({ level: 'info', message: 'groups are busy on backends', groups: busy, leftOut: 0 });
    expect(watch.backends).toEqual([{ backend: 'db', count: 7, busiestRatio: 0.5 }]);
  });

  test('are at most 100 in one event, of all backends; it says how many more are busy', () => {
    const backends = ['db-1', 'db-2', 'db-3'];
    const names = Array.from({ length: 60 }, (_, at) => `g-${at}`);
    const { report, look, events } = scene(names, { backends });
    report(Object.fromEntries(names.map((name, at) => [name, 100 + at])));
    look();
    const [{ groups = [], leftOut = 0 } = {}] = events;
    expect([groups.length, leftOut]).toEqual([100, 80]);
    // Each of the three has 60, in the same order, and the largest parts are named.
    expect(Math.min(...groups.map(({ costPerSecond }) => costPerSecond))).toBe(126);
  });

  test('are known to all nodes, and named by the one that tells the health', () => {
    const { node, report, look, events, lines, watch } = scene(['orders'], { tells: 'another' });
    node.read({
      partition: 0,
      key: backendRecordKey('db'),
      record: {
        kind: 'backend',
        author: { nodeKey: 7, incarnation: 65_536, sequence: 1 },
        backend: 'db',
        zone: 'z',
        health: { kind: 'ratio', ratio: 1 },
      },
    });
    report({ orders: 1 });
    look();
    expect([events, lines]).toEqual([[], []]);
    expect(watch.backends).toEqual([{ backend: 'db', count: 1, busiestRatio: 1 }]);
  });
});

describe('among 5,000 groups', () => {
  const GROUPS = 5000;
  const names = Array.from({ length: GROUPS }, (_, at) => `g-${at}`);
  /** Each at its own cost, in no order; 7919 and the number of groups have no common factor. */
  const costs = Object.fromEntries(names.map((name, at) => [name, 1 + ((at * 7919) % GROUPS)]));
  const all = (GROUPS * (GROUPS + 1)) / 2;
  /** A fiftieth of the cost of all others; none of these has a hundredth. */
  const hot = all / 50;

  test('a pass takes 500 lanes per round, and names the one that is busy', async () => {
    const { report, round, events, parts } = scene([...names, 'hot']);
    report({ ...costs, hot });
    const tookMs: number[] = [];
    for (let at = 0; at < GROUPS / 500; at++) {
      expect(events).toEqual([]);
      const beforeMs = performance.now();
      round();
      tookMs.push(performance.now() - beforeMs);
    }
    round();
    expect(events).toMatchObject([{ groups: [{ group: 'hot', costPerSecond: hot }], leftOut: 0 }]);
    const beforeMs = performance.now();
    let [turns, isDescribed] = [0, false];
    const count = () => {
      turns++;
      if (!isDescribed) setImmediate(count);
    };
    count();
    const [db] = await describeBackends(parts);
    isDescribed = true;
    const onRequestMs = performance.now() - beforeMs;
    // So often others had their turn meanwhile.
    expect(turns).toBeGreaterThanOrEqual(GROUPS / 1000);
    expect(db?.costPerSecond).toBe(all + hot);
    expect(db?.busiestGroups).toMatchObject([{ group: 'hot' }]);
    const [firstMs = 0, ...others] = tookMs.map((ms) => Number(ms.toFixed(1)));
    others.sort((one, other) => one - other);
    const [medianMs, longestMs] = [others[others.length >> 1], others.at(-1)];
    console.log(
      `${GROUPS} groups: first round ${firstMs} ms, median ${medianMs}, longest ${longestMs}; ` +
        `GET /v1/backends ${onRequestMs.toFixed(0)} ms in ${turns} turns`,
    );
  });
});
