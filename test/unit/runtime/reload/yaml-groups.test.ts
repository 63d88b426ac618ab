import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveConfig } from '../../../../src/config/read/resolve-config.js';
import { type HttpScene, readyScene } from '../../http/http-scene.js';

let scene: HttpScene;
let clusters = 0;
let cluster = '';
const FIRST = { a: { quota: { publish: { messagesPerSecond: 0 } } }, b: {}, named: {} };

beforeEach(async () => {
  cluster = `yaml-${process.pid}-${clusters++}`;
  scene = await readyScene({ cluster, groups: FIRST, defaultGroup: 'named' });
});
afterEach(() => scene.close());

function read(overrides: Readonly<Record<string, unknown>>): void {
  const raw = { cluster, node: 'a', topic: 'memory', groups: FIRST, defaultGroup: 'named', ...overrides };
  try {
    scene.node.yaml.take(resolveConfig(raw, { source: 'node.yaml' }));
  } catch (error) {
    scene.node.yaml.refuse(error);
  }
}

const linesAbout = (text: string) => scene.log.filter(({ message }) => message.includes(text));

const TAKEN = { audit: true, outcome: 'accepted', source: 'node.yaml' };

describe('a configuration that is read again', () => {
  it('has its groups in force at once: new, changed and gone; no group is touched that is as before', async () => {
    expect(await scene.acquire({ group: 'a', messages: 1 })).toMatchObject({ status: 429 });
    const before = scene.node.groups.at(scene.node.groups.numbers.get('b') as number);
    read({ groups: { a: {}, b: {}, c: {}, named: {} } });
    expect(await scene.acquire({ group: 'a', messages: 1 })).toMatchObject({ status: 200 });
    expect(await scene.acquire({ group: 'c', messages: 1 })).toMatchObject({ status: 200 });
    expect(scene.node.groups.at(scene.node.groups.numbers.get('b') as number)).toBe(before);
    read({ groups: { b: {}, named: {} } });
    expect([...scene.node.groups.numbers.keys()].sort()).toEqual(['b', 'named']);
    expect(linesAbout('configuration taken').map(({ facts }) => facts)).toEqual([
      { ...TAKEN, added: 1, changed: 1, removed: 0, groups: ['c', 'a'] },
      { ...TAKEN, added: 0, changed: 0, removed: 2, groups: ['a', 'c'] },
    ]);
  });

  it('that leaves out a limit names it: a file that was cut at the end of a line is valid', () => {
    const rates = (publish: object) => ({ groups: { ...FIRST, a: { quota: { publish } } } });
    read(rates({ messagesPerSecond: 5, bytesPerSecond: '1MiB' }));
    expect(linesAbout('takes limits away')).toEqual([]);
    read(rates({ messagesPerSecond: 9 }));
    read({ groups: { ...FIRST, a: {} } });
    expect(linesAbout('takes limits away')).toMatchObject([
      { level: 'warn', facts: { source: 'node.yaml', count: 1, limits: ['a.publish.bytes'] } },
      { level: 'warn', facts: { source: 'node.yaml', count: 1, limits: ['a.publish.messages'] } },
    ]);
  });

  it('has its attachments in force at once, with groups that are new, and none where they are gone', async () => {
    const ask = () => scene.acquire({ tenant: 'acme', messages: 1 });
    expect(await ask()).toMatchObject({ status: 200 });
    const closed = { ...FIRST, closed: { quota: { publish: { messagesPerSecond: 0 } } } };
    read({ groups: closed, attachments: { scopes: { acme: 'closed' } } });
    expect(await ask()).toMatchObject({ status: 429 });
    expect(scene.node.status()).toMatchObject({ degraded: [], configuration: { needsRestart: [] } });
    read({ groups: closed, attachments: { scopes: { acme: 'missing' } } });
    expect(await ask()).toMatchObject({ status: 429 });
    read({});
    expect(await ask()).toMatchObject({ status: 200 });
  });

  it('with a mistake changes nothing, and says so once: status, degraded, metric, log', async () => {
    for (let time = 0; time < 3; time++) read({ groups: { a: {}, b: { debtMs: -1 }, named: {} } });
    expect(await scene.acquire({ group: 'a', messages: 1 })).toMatchObject({ status: 429 });
    const { configuration, degraded } = scene.node.status();
    expect(configuration).toMatchObject({ taken: 0, refused: 3 });
    expect(configuration.refusedBecause).toMatch(/^node.yaml: groups.b.debtMs must be .* got -1\. \S+/);
    expect(degraded).toEqual([`configuration refused, groups stay as they are: ${configuration.refusedBecause}`]);
    expect(linesAbout('configuration refused')).toHaveLength(1);
    const text = await scene.metrics.text();
    expect(text).toContain('quotamesh_config_reloads_total{outcome="refused"} 3');
    expect(text).toContain('quotamesh_config_refused 1');
    read({});
    expect(scene.node.status().degraded).toEqual([]);
    expect(await scene.metrics.text()).toContain('quotamesh_config_refused 0');
  });

  it('names the settings that need a restart, without their values; a group that one of them names stays', async () => {
    const groups = { a: {}, b: {} };
    read({ groups, defaultGroup: undefined, timing: { heartbeatMs: 900 }, registry: { maxGroups: 7 } });
    read({ groups, defaultGroup: undefined, timing: { heartbeatMs: 900 }, registry: { maxGroups: 7 } });
    const needsRestart = ['registry.maxGroups', 'timing.heartbeatMs', 'defaultGroup'];
    expect(scene.node.status().configuration.needsRestart).toEqual(needsRestart);
    expect(scene.node.status().degraded).toEqual([
      `changed in the configuration, needs a restart: ${needsRestart.join(', ')}`,
    ]);
    expect(linesAbout('only a restart')).toHaveLength(1);
    expect(await scene.acquire({ group: 'unknown', messages: 1 })).toMatchObject({ status: 200 });
    expect(await scene.acquire({ group: 'a', messages: 1 })).toMatchObject({ status: 200 });
  });

  it('does not touch what was defined at run time, and names it; when that is deleted, the newest YAML is in force', async () => {
    const url = '/v1/groups/a';
    const put = await scene.app.inject({
      method: 'PUT',
      url,
      payload: { quota: { publish: { messagesPerSecond: 0 } } },
    });
    expect(put.statusCode).toBe(200);
    const hidden = () => {
      const { hiddenByRunTime, hidden } = scene.node.status().configuration;
      return [hiddenByRunTime, hidden];
    };
    const told = () => linesAbout('definitions at run time hide').map(({ level, facts }) => [level, facts?.hidden]);
    expect([hidden(), told()]).toEqual([[1, ['a']], [['warn', ['a']]]]);
    read({ groups: { a: {}, b: {}, named: {} } });
    read({ groups: { a: {}, b: {}, named: {}, other: {} } });
    // What says the same as before is not told once more.
    expect(told()).toEqual([
      ['warn', ['a']],
      ['warn', ['a']],
    ]);
    expect(await scene.metrics.text()).toContain('quotamesh_config_hidden 1\n');
    expect(await scene.acquire({ group: 'a', messages: 1 })).toMatchObject({ status: 429 });
    expect((await scene.app.inject({ method: 'DELETE', url })).statusCode).toBe(204);
    expect(await scene.acquire({ group: 'a', messages: 1 })).toMatchObject({ status: 200 });
    expect(hidden()).toEqual([0, []]);
    read({ groups: FIRST, attachments: { scopes: { acme: 'a' } } });
    await scene.app.inject({ method: 'PUT', url: '/v1/attachments/acme', payload: { group: 'b' } });
    expect(hidden()).toEqual([1, ['acme']]);
  });
});
