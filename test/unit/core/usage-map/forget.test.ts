import { describe, expect, test } from 'vitest';
import { groupIdOf, nodeKeyOf } from '../../../../src/core/base/ids.js';
import {
  backendRecordKey,
  NOTHING_REPORTED,
  nodeRecordKey,
  type ReportRow,
  reportRecordKey,
} from '../../../../src/core/base/protocol/record.js';
import { SETTINGS } from '../../../simulation/settings.js';
import { OneNode } from '../machine/one-node.js';

const FORGET_AFTER_MS = 20_000;

function row(group: string): ReportRow {
  const rates = { ...NOTHING_REPORTED, usageMessages: 5, demandMessages: 5 };
  return { ...rates, groupId: groupIdOf(SETTINGS.cluster, group), direction: 0 };
}

/** Keys that the node buries, and how long after now. */
function buried(node: OneNode, durationMs: number, each = () => {}): { key: string; afterMs: number }[] {
  const from = node.nowMs;
  const keys: { key: string; afterMs: number }[] = [];
  node.run(durationMs, {
    echo: false,
    each: () => {
      each();
      for (const { key, record } of node.sent) if (record === null) keys.push({ key, afterMs: node.nowMs - from });
      node.echo();
    },
  });
  return keys;
}

/** A node whose key is lower or higher than this one's. */
function idBeside(node: OneNode, side: -1 | 1, other = ''): string {
  const key = (id: string) => nodeKeyOf(node.settings.cluster, id);
  const ids = [...Array(50).keys()].map((at) => `n-${at}`);
  return ids.find((id) => id !== other && Math.sign(key(id) - node.coordinator.nodeKey) === side) as string;
}

describe('keys of this id’s past lives', () => {
  test('are freed once this life has lasted as long as a node is remembered; those in use are not', () => {
    const node = new OneNode({ forgetAfterMs: FORGET_AFTER_MS, groupsPerRecord: 1 });
    for (const bundle of [0, 1, 2]) node.read(node.report('own', [row(`old ${bundle}`)], { life: 1, bundle }));
    node.step({ kind: 'caught-up' });
    node.echo();
    const work = () => void node.tryAcquire(0, 1);
    expect(buried(node, FORGET_AFTER_MS - 1000, work)).toEqual([]);
    const freed = buried(node, 10_000, work);
    // Bundle 0 is written by this life as well.
    const keyOf = (bundle: number) => reportRecordKey(node.coordinator.nodeKey, bundle);
    expect(freed.map(({ key }) => key).sort()).toEqual([keyOf(1), keyOf(2)]);
    expect(buried(node, 60_000, work)).toEqual([]);
  });
});

describe('a node that is gone', () => {
  function scene(side: -1 | 1 = 1): { node: OneNode; gone: string } {
    const node = OneNode.ready({ forgetAfterMs: FORGET_AFTER_MS });
    const gone = idBeside(node, side);
    node.read(node.by(gone, 'node'), node.report(gone, [row('a')], { bundle: 3 }), node.report(gone, [row('b')]));
    return { node, gone };
  }

  test('is forgotten after its time: first its reports, then its life, which they belong to', () => {
    const { node, gone } = scene();
    expect(buried(node, FORGET_AFTER_MS - 500)).toEqual([]);
    const freed = buried(node, 5000);
    const nodeKey = nodeKeyOf(SETTINGS.cluster, gone);
    const reports = [reportRecordKey(nodeKey, 0), reportRecordKey(nodeKey, 3)];
    expect(
      freed
        .slice(0, 2)
        .map(({ key }) => key)
        .sort(),
    ).toEqual(reports.sort());
    expect(freed.slice(2).map(({ key }) => key)).toEqual([nodeRecordKey(nodeKey)]);
    expect(node.coordinator.membership.get(nodeKey)).toBeUndefined();
    expect(node.coordinator.usageMap.rows.count).toBe(0);
    expect(buried(node, 3 * FORGET_AFTER_MS)).toEqual([]);
  });

  test('is buried again when the tombstones have not come back by then', () => {
    const { node } = scene();
    const times: number[] = [];
    node.run(3 * FORGET_AFTER_MS, {
      echo: false,
      each: () => {
        if (node.sent.some(({ record }) => record === null)) times.push(node.nowMs);
        node.read(...node.lose().filter(({ record }) => record !== null));
      },
    });
    expect(times).toHaveLength(2);
    expect(times[1] - times[0]).toBeGreaterThanOrEqual(FORGET_AFTER_MS);
  });

  test('is not while it gives signs of life', () => {
    const { node, gone } = scene();
    let rounds = 0;
    const beat = () => rounds++ % 50 === 0 && node.read(node.by(gone, 'node'));
    expect(buried(node, 2 * FORGET_AFTER_MS, () => void beat())).toEqual([]);
  });

  test('is not while a process of its id beats in an older life: the keys are that process’s now', () => {
    const { node, gone } = scene();
    node.read(node.by(gone, 'node', { life: 2 }), node.by(gone, 'farewell', { life: 2 }));
    let rounds = 0;
    const beat = () => rounds++ % 50 === 0 && node.read(node.by(gone, 'node', { life: 1 }));
    expect(buried(node, 2 * FORGET_AFTER_MS, () => void beat())).toEqual([]);
    expect(buried(node, 2 * FORGET_AFTER_MS).length).toBeGreaterThan(0);
  });

  test.each([
    ['the one with the lowest key', 1, true],
    ['not one that stands behind another', -1, false],
  ] as const)('is forgotten by %s', (_, side, byThis) => {
    const { node, gone } = scene();
    const witness = idBeside(node, side, gone);
    let rounds = 0;
    const beat = () => rounds++ % 50 === 0 && node.read(node.by(witness, 'node'));
    expect(buried(node, 2 * FORGET_AFTER_MS, () => void beat()).length > 0).toBe(byThis);
  });
});

test('a backend of which nobody has spoken for as long is freed, one that is spoken of is not', () => {
  const node = OneNode.ready({ forgetAfterMs: FORGET_AFTER_MS });
  const tell = (backend: string) => {
    node.step({ kind: 'backend-reported', backend, zone: 'z', health: { kind: 'ratio', ratio: 1 } });
    node.echo();
  };
  tell('silent');
  let rounds = 0;
  const each = () => rounds++ % 100 === 0 && tell('spoken of');
  expect(buried(node, FORGET_AFTER_MS - 500, () => void each())).toEqual([]);
  const freed = buried(node, 3000, () => void each());
  expect(new Set(freed.map(({ key }) => key))).toEqual(new Set([backendRecordKey('silent')]));
  expect([...node.coordinator.targets.backends.all()].map(({ name }) => name)).toEqual(['spoken of']);
});
