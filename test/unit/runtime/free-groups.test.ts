import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { examineGroup } from '../../../src/config/read/group-definition.js';
import { laneOf } from '../../../src/core/base/vocabulary.js';
import type { WholeNode } from '../../whole-node.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

let scene: HttpScene;
afterEach(() => scene.close());

const QUOTA = { quota: { publish: { messagesPerSecond: 100, costPerSecond: 50 } } };
const GROUPS = {
  limited: QUOTA,
  free: {},
  disabled: {
    ...QUOTA,
    enabled: false,
    ramp: { fromPerSecond: 1, toPerSecond: 2 },
    perClient: { publish: { messagesPerSecond: 1 } },
    limiter: 'window',
  },
};

/** Kinds of the records that this node writes while 2,000 messages of a group pass within half a second. */
async function kindsWritten(node: WholeNode, group: string): Promise<ReadonlySet<string>> {
  const kinds = new Set<string>();
  const send = node.pump.send.bind(node.pump);
  // Noted at once: the list is the coordinator's, and used again.
  const sending = vi.spyOn(node.pump, 'send').mockImplementation((appends) => {
    for (const { record } of appends) kinds.add(record?.kind ?? 'tombstone');
    send(appends);
  });
  for (let turn = 0; turn < 20; turn++) {
    for (let at = 0; at < 100; at++) node.tryAcquire(group, { messages: 1, bytes: 10 });
    await sleep(25);
  }
  sending.mockRestore();
  return kinds;
}

function change(node: WholeNode, name: string, written: object): void {
  const { config } = examineGroup(name, written, '(test)');
  node.inForce.define(config!);
}

describe('a group without quota, or enabled: false', () => {
  test.each(['free', 'disabled'])('%s: no lane, no report, no record; all of it passes', async (group) => {
    scene = await readyScene({ groups: GROUPS });
    const { node } = scene;
    await sleep(100);
    const lane = laneOf(Object.keys(GROUPS).indexOf(group), 0);
    for (let at = 0; at < 100; at++) expect(node.tryAcquire(group, { messages: 1000 }).granted).toBe(true);
    expect((await node.acquire(group, { messages: 5 }, { waitMs: 10 })).granted).toBe(true);
    expect(node.reserve(group, { messages: 5 }).granted).toBe(true);
    node.consume(group, { messages: 5 });
    expect(node.containsTokens(group, { messages: 100 })).toBe(true);
    expect(node.coordinator?.lanes.has(lane)).toBe(false);
    expect([...(await kindsWritten(node, group))].filter((kind) => kind !== 'node')).toEqual([]);
    expect(await kindsWritten(node, 'limited')).toContain('report');
  });

  test('a disabled one does not wait for the node; it is limited from the change on that enables it', async () => {
    scene = await readyScene({ groups: GROUPS });
    const { node } = scene;
    const lane = laneOf(2, 0);
    expect(node.limiter.validUntilMs.at(lane)).toBe(Infinity);
    change(node, 'disabled', QUOTA);
    const granted = Array.from({ length: 200 }, () => node.tryAcquire('disabled', { messages: 1 }).granted);
    expect(granted.filter(Boolean).length).toBeLessThanOrEqual(30);
    expect(node.coordinator?.lanes.has(lane)).toBe(true);
    change(node, 'disabled', { ...QUOTA, enabled: false });
    expect(node.tryAcquire('disabled', { messages: 100 }).granted).toBe(true);
    expect(node.coordinator?.lanes.has(lane)).toBe(false);
  });
});
