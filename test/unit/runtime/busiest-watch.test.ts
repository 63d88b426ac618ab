import { describe, expect, test } from 'vitest';
import { backendIdOf, groupIdOf } from '../../../src/core/base/ids.js';
import { backendRecordKey, type ReportRow } from '../../../src/core/protocol/record.js';
import { GroupTable } from '../../../src/groups/group-table.js';
import type { BusiestChange } from '../../../src/ports/telemetry.js';
import { BusiestWatch } from '../../../src/status/busiest-watch.js';
import { describeBackends } from '../../../src/status/describe-backends.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';
import { OneNode } from '../core/coordinator/one-node.js';

const PASS_MS = 5000;
const ROWS_PER_RECORD = 64;
const NO_RATES = { usageBytes: 0, demandBytes: 0, shareMessages: 0, shareBytes: 0 };

/** A node that is told of the costs on `db` by the reports of another one; time passes in calls of `look`. */
function scene(names: readonly string[], { tells = 'own' } = {}) {
  const node = OneNode.ready({ groups: names.map((name) => ({ ...GROUP, name })) });
  node.read(node.by('b', 'node'));
  const health = { kind: 'ratio', ratio: 1 } as const;
  if (tells === 'own') node.step({ kind: 'backend-reported', backend: 'db', zone: 'z', health });
  node.echo();
  const groups = new GroupTable(
    names.map((name) => ({ name, mode: 'enforce', shadow: null }) as never),
    (name) => name,
  );
  const loop = { coordinator: node.coordinator, isReady: true } as never;
  const lines: unknown[] = [];
  const changes: BusiestChange[] = [];
  const watch = new BusiestWatch(
    { config: SETTINGS as never, groups, loop },
    {
      log: (level, message, facts) => void lines.push({ level, message, ...facts }),
      busiestChanged: (change) => void changes.push(change),
    },
  );
  let nowMs = 0;
  return {
    node,
    watch,
    lines,
    changes,
    parts: { loop, groups },
    report(costs: Readonly<Record<string, number>>) {
      const rows = Object.entries(costs).map(([group, cost]) => rowOf(group, cost));
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

function rowOf(group: string, cost: number): ReportRow {
  const costs = { transactions: 1, backends: [{ backend: backendIdOf(SETTINGS.cluster, 'db'), cost }] };
  const groupId = groupIdOf(SETTINGS.cluster, group);
  return { ...NO_RATES, groupId, direction: 1, topics: 0, usageMessages: 1, demandMessages: 1, costs };
}

describe('the busiest group of a backend', () => {
  test('is told when it is another one, once, with its part and the one before', () => {
    const { report, look, changes, lines, watch } = scene(['orders', 'mail']);
    report({ orders: 75, mail: 25 });
    look();
    look();
    const first = { backend: 'db', group: 'orders', direction: 'dispatch', costPerSecond: 75, busyness: 0.75 };
    expect(changes).toEqual([{ ...first, before: null }]);
    report({ orders: 75, mail: 225 });
    look();
    const second = { ...first, group: 'mail', costPerSecond: 225, before: 'orders' };
    expect(changes.slice(1)).toEqual([second]);
    expect(lines[1]).toEqual({ level: 'info', message: 'another group costs this backend most', ...second });
    expect([...watch.busiest]).toMatchObject([{ backend: 'db', group: 'mail', busyness: 0.75 }]);
    expect(watch.changes).toBe(2);
  });

  test('stays while another one costs less than a tenth more; its part is followed', () => {
    const { report, look, changes, watch } = scene(['orders', 'mail']);
    for (const mail of [90, 109, 100, 109]) {
      report({ orders: 100, mail });
      look();
    }
    expect(changes).toHaveLength(1);
    expect([...watch.busiest]).toMatchObject([{ group: 'orders', busyness: 100 / 209 }]);
    report({ orders: 100, mail: 111 });
    look();
    expect(changes.map(({ group }) => group)).toEqual(['orders', 'mail']);
  });

  test('is looked for every five seconds, not in each round', () => {
    const { report, look, round, changes } = scene(['orders', 'mail']);
    report({ orders: 2, mail: 1 });
    look();
    report({ orders: 2, mail: 4 });
    for (let at = 0; at < PASS_MS; at++) round();
    expect(changes).toHaveLength(1);
    round();
    expect(changes).toHaveLength(2);
  });

  test('is nobody when nothing costs the backend anything; the next one is told', () => {
    const { report, look, changes, watch } = scene(['orders']);
    report({ orders: 1 });
    look();
    report({});
    look();
    expect([...watch.busiest]).toEqual([]);
    report({ orders: 1 });
    look();
    expect(changes.map(({ before }) => before)).toEqual([null, null]);
  });

  test('is known to all nodes, and told by the one that tells the health', () => {
    const { node, report, look, changes, lines, watch } = scene(['orders'], { tells: 'another' });
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
    expect([changes, lines]).toEqual([[], []]);
    expect([...watch.busiest]).toMatchObject([{ backend: 'db', group: 'orders', busyness: 1 }]);
  });
});

describe('among 100,000 groups', () => {
  const GROUPS = 100_000;
  const names = Array.from({ length: GROUPS }, (_, at) => `g-${at}`);
  /** Each at its own cost, in no order; 7919 and the number of groups have no common factor. */
  const costs = Object.fromEntries(names.map((name, at) => [name, 1 + ((at * 7919) % GROUPS)]));
  const mostFirst = Object.entries(costs).sort((one, other) => other[1] - one[1]);

  test('a pass takes 500 lanes per round, and finds the busiest one', async () => {
    const { report, round, changes, parts } = scene(names);
    report(costs);
    const tookMs: number[] = [];
    for (let at = 0; at < GROUPS / 500; at++) {
      expect(changes).toEqual([]);
      const beforeMs = performance.now();
      round();
      tookMs.push(performance.now() - beforeMs);
    }
    round();
    expect(changes).toMatchObject([{ group: mostFirst[0]?.[0], costPerSecond: GROUPS }]);
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
    expect(db?.costPerSecond).toBe((GROUPS * (GROUPS + 1)) / 2);
    // None has a hundredth of the cost.
    expect(db?.busiestGroups).toEqual([]);
    const [firstMs = 0, ...others] = tookMs.map((ms) => Number(ms.toFixed(1)));
    others.sort((one, other) => one - other);
    const [medianMs, longestMs] = [others[others.length >> 1], others.at(-1)];
    console.log(
      `100,000 groups: first round ${firstMs} ms, median ${medianMs}, longest ${longestMs}; ` +
        `GET /v1/backends ${onRequestMs.toFixed(0)} ms in ${turns} turns`,
    );
  });
});
