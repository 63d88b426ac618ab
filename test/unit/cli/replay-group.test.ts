import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ReplayCommandOptions } from '../../../sim/commands/replay-command.js';
import { replayedGroup } from '../../../sim/commands/replay-group.js';
import { playTrace } from '../../../sim/replay/play-trace.js';
import { systemNamed } from '../../../sim/systems.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { arrival } from '../replay/rows.js';

const YAML = `
cluster: shop
topic: { kind: embedded, path: /nowhere }
timing: { heartbeatMs: 500ms }
defaults: { debtMs: 300ms }
groups:
  orders:
    strategy: proportional
    quota: { publish: { messagesPerSecond: 50, bytesPerSecond: 1MiB }, dispatch: { messagesPerSecond: 7 } }
  mail: { enabled: false }
`;

function play(options: Partial<ReplayCommandOptions>, yaml = YAML) {
  const folder = mkdtempSync(join(tmpdir(), 'replay-group-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'node.yaml');
  writeFileSync(file, yaml);
  const { config, ...rest } = options;
  return replayedGroup({ direction: 'publish', ...(config === undefined ? {} : { config: file }), ...rest });
}

test('a group of a configuration, as its node would have it', async () => {
  const orders = await play({ config: 'yes', group: 'orders' });
  expect(orders).toMatchObject({ name: 'orders', strategy: 'proportional', quota: [50, 1024 * 1024] });
  const groups = [{ name: 'orders', debtMs: 300 }];
  expect(orders.settings).toMatchObject({ cluster: 'shop', heartbeatMs: 500, groups });
  expect(orders.maxRequestAt([100, 2000])).toEqual([1000, 65_536]);
  const dispatch = await play({ config: 'yes', group: 'orders', direction: 'dispatch' });
  expect(dispatch.quota).toEqual([7, Infinity]);
});

test('--set lays settings over the file, and flags of quotas over both', async () => {
  const set = ['strategy=equal', 'debtMs=2s', 'quota.publish.messagesPerSecond=2k', 'maxRequest.messages=5'];
  const orders = await play({ config: 'yes', group: 'orders', set });
  expect(orders).toMatchObject({ strategy: 'equal', quota: [2000, 1024 * 1024] });
  expect(orders.settings.groups[0]).toMatchObject({ strategy: 'equal', debtMs: 2000 });
  expect(orders.maxRequestAt([100, 2000])[0]).toBe(5);
  const flagged = await play({ config: 'yes', group: 'orders', set, quota: '9', quotaBytes: '10k' });
  expect(flagged.quota).toEqual([9, 10_000]);
});

test.for(['60/min', '600/h', '1/d', '5', '2.5k', '100/s'])('--quota %s is what a node makes of it', async (quota) => {
  for (const direction of ['publish', 'dispatch'] as const) {
    const node = resolveConfig(
      {
        cluster: 'replay',
        topic: 'memory',
        groups: { trace: { quota: { [direction]: { messagesPerSecond: quota, bytesPerSecond: quota } } } },
      },
      { source: '(node)' },
    ).groups[0];
    const { settings, quota: played } = await play({ quota, quotaBytes: quota, direction });
    expect(played).toEqual(node.quota[direction]);
    const group = settings.groups[0];
    expect(group.quota).toEqual(node.quota);
    expect(group.burst.ofQuota?.publish).toEqual(node.burst.ofQuota?.[direction]);
  }
});

test.for([1, 10])('60/min at --speed %s: sixty at once, then one a second of the file', async (speed) => {
  const { settings, quota, maxRequestAt } = await play({ quota: '60/min' });
  async function* atOnceAndLater() {
    for (let at = 0; at < 100; at++) yield arrival(0);
    for (let at = 0; at < 300; at++) yield arrival((1000 + at * 100) / speed);
  }
  const [run] = await playTrace(atOnceAndLater(), {
    name: 'burst',
    systems: [systemNamed('max-min')!],
    nodes: 3,
    seed: 1,
    speed,
    quota,
    settings,
    maxRequest: maxRequestAt(quota),
  });
  expect(run.admitted).toBeGreaterThanOrEqual(75);
  expect(run.admitted).toBeLessThanOrEqual(60 + 31);
});

test('a static split has its part of the burst that a quota per minute has', async () => {
  const { settings, quota, maxRequestAt } = await play({ quota: '60/min' });
  async function* atOnce() {
    for (let at = 0; at < 100; at++) yield arrival(0);
  }
  const options = { name: 'burst', nodes: 3, seed: 1, speed: 1, quota, settings, maxRequest: maxRequestAt(quota) };
  const [run] = await playTrace(atOnce(), { ...options, systems: [systemNamed('static')!] });
  expect(run.admitted).toBe(20);
});

test('--quota takes the place of a rate in another unit of time, in the file and in --set', async () => {
  const yaml = YAML.replaceAll('debtMs: 300ms', 'burst: null').replace(
    'messagesPerSecond: 50',
    'messagesPerSecond: 50/h',
  );
  const orders = await play({ config: 'yes', group: 'orders', quota: '60/min' }, yaml);
  expect(orders.quota[0]).toBe(1);
  expect(orders.quotaTold).toEqual([
    { amount: 60, per: 'minute' },
    { amount: 1024 * 1024, per: 'second' },
  ]);
  const set = ['quota.publish.messagesPerSecond=7/d'];
  expect((await play({ config: 'yes', group: 'orders', set }, yaml)).quotaTold[0]).toEqual({ amount: 7, per: 'day' });
  const both = await play({ config: 'yes', group: 'orders', set, quota: '5' }, yaml);
  expect(both.quotaTold[0]).toEqual({ amount: 5, per: 'second' });
  expect(both.settings.groups[0]?.burst.ofQuota?.publish.messages ?? null).toBeNull();
});

test('--set without a configuration changes the defaults', async () => {
  const group = await play({ set: ['headroom=none', 'quota.publish.bytesPerSecond=1k'] });
  expect(group).toMatchObject({ name: 'trace', quota: [Infinity, 1000] });
  expect(group.settings.groups[0]).toMatchObject({ headroom: 'none' });
});

const KEYED = `
cluster: shop
topic: { kind: embedded, path: /nowhere }
keys:
  "key:{id}":
    quota: { publish: { messagesPerSecond: '600/min' } }
    overrides: { "key:vip": { quota: { publish: { messagesPerSecond: 50 } } } }
`;

test('keys of a configuration: the template for all of a column, or a single one by its name', async () => {
  const all = await play({ config: 'yes', per: 'api_key' }, KEYED);
  expect(all).toMatchObject({ kind: 'template', name: 'key:{id}', quota: [10, Infinity] });
  expect(all.settings.groups[0]?.burst.ofQuota?.publish.messages).toBe(600);
  const set = ['quota.publish.messagesPerSecond=7200/h'];
  expect((await play({ config: 'yes', per: 'api_key', set }, KEYED)).quota[0]).toBe(2);
  const one = await play({ config: 'yes', group: 'key:acme' }, KEYED);
  expect(one).toMatchObject({ kind: 'key', name: 'key:acme', quota: [10, Infinity] });
  const own = await play({ config: 'yes', group: 'key:vip', set: ['strategy=equal'] }, KEYED);
  expect(own).toMatchObject({ kind: 'key', name: 'key:vip', strategy: 'equal' });
  expect(own.quota[0]).toBe(50);
  await expect(play({ config: 'yes' }, KEYED)).rejects.toThrow('name their column with --per');
  await expect(play({ config: 'yes', group: 'kay:acme' }, KEYED)).rejects.toThrow('or one of its keys');
});

test.for<[string, Partial<ReplayCommandOptions>, readonly string[]]>([
  ['no group named', { config: 'yes' }, ['has 2 groups, name one with --group']],
  ['a group that is none', { config: 'yes', group: 'order' }, ['--group must be a group of', 'Did you mean "orders"?']],
  ['a group that is off', { config: 'yes', group: 'mail' }, ['enabled: false']],
  ['--group without a configuration', { group: 'orders' }, ['--group names a group of a recording or of --config']],
  ['no value', { set: ['strategy'] }, ['--set must be name=value', 'got "strategy"']],
  ['an unknown setting', { set: ['strateg=equal'] }, ['--set strateg', 'strategy']],
  ['a value out of its range', { set: ['debtMs=2d'] }, ['--set debtMs', 'groups.trace.debtMs']],
  ['an unknown strategy', { config: 'yes', group: 'orders', set: ['strategy=fair'] }, ['--set strategy', 'max-min']],
])('%s is refused', async ([, options, says]) => {
  const problem = await play(options).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
  for (const part of says) expect(problem).toContain(part);
});

test('nodes that share nothing are no cluster', async () => {
  const yaml = 'cluster: shop\ntopic: { kind: none, nodeCount: 3 }\ngroups: { orders: { strategy: equal } }\n';
  await expect(play({ config: 'yes' }, yaml)).rejects.toThrow('play it as --system static');
});
