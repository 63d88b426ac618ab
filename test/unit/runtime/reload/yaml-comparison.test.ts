import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveConfig } from '../../../../src/config/read/resolve-config.js';
import { clusterHashOf } from '../../../../src/core/base/ids.js';
import { registryKeys } from '../../../../src/core/beside/registry/registry-record.js';
import { READ_BYTES_MAX } from '../../../../src/node/groups/yaml/yaml-comparison.js';
import { definitionHash } from '../../../../src/node/groups/yaml/yaml-groups.js';
import { type HttpScene, readyScene } from '../../http/http-scene.js';

const FIRST = { same: {}, x: { debtMs: 200 } };
let a: HttpScene;
let b: HttpScene;
let clusters = 0;
let cluster = '';
beforeEach(async () => {
  cluster = `compared-${process.pid}-${clusters++}`;
  a = await readyScene({ cluster, node: 'a', groups: FIRST });
  b = await readyScene({ cluster, node: 'b', groups: FIRST });
});
afterEach(async () => {
  await Promise.all([a.close(), b.close()]);
});

const POLL = { timeout: 20_000, interval: 50 };
const differs = (scene: HttpScene) => scene.node.status().configuration.differs;
const lines = (scene: HttpScene) =>
  scene.log.filter(({ message }) => /YAML/.test(message)).map(({ message, facts }) => [message, facts]);

function read(scene: HttpScene, node: string, groups: Readonly<Record<string, unknown>>): void {
  scene.node.yaml.take(resolveConfig({ cluster, node, topic: 'memory', groups }, { source: '(test)' }));
}

describe('nodes with different YAML', () => {
  it('say of which group: status, degraded, metric, one log line; alike again, they say that, too', async () => {
    read(b, 'b', { same: {}, x: { debtMs: 300 }, more: {} });
    const found = (node: string) => ['more', 'x'].map((group) => ({ group, nodes: [node] }));
    await expect.poll(() => differs(a), POLL).toEqual(found('b'));
    await expect.poll(() => differs(b), POLL).toEqual(found('a'));
    expect(a.node.status().degraded).toEqual([`the YAML of b differs from this node's: more, x`]);
    expect(await a.metrics.text()).toContain('quotamesh_config_differing_groups 2');
    read(a, 'a', { same: {}, x: { debtMs: '300ms' }, more: {} });
    for (const scene of [a, b]) await expect.poll(() => differs(scene), POLL).toEqual([]);
    expect(a.node.status().degraded).toEqual([]);
    expect(lines(b).at(-1)).toEqual(['all nodes have the same YAML again', undefined]);
    expect(lines(b).filter(([message]) => message === 'nodes have different YAML')).toHaveLength(1);
    expect(b.node.registry?.ignored).toBe(0);
  }, 60_000);

  it('a group that is defined at run time is the same everywhere, and so is that of a node that has left', async () => {
    const url = '/v1/groups/x';
    await a.app.inject({ method: 'PUT', url, payload: { debtMs: 50 } });
    read(b, 'b', { same: {}, x: { debtMs: 300 }, more: {} });
    await expect.poll(() => differs(a), POLL).toEqual([{ group: 'more', nodes: ['b'] }]);
    await b.node.close();
    await expect.poll(() => differs(a), POLL).toEqual([]);
  }, 60_000);
});

describe('what other nodes tell is bounded', () => {
  const keys = () => registryKeys(clusterHashOf(cluster));
  const tell = (author: string, part: number, groups: Record<string, string>, key = keys().yaml(author, part)) => {
    a.node.registry?.comparison.read(key, { kind: 'yaml', author, version: '0', part, groups });
    return key;
  };

  it('in parts: what cannot be is ignored and counted', () => {
    tell('b', 255, {});
    expect(a.node.registry?.ignored).toBe(0);
    tell('b', 256, {});
    tell('b', 1, {}, keys().yaml('b', 2));
    expect(a.node.registry?.ignored).toBe(2);
  });

  it('in all: nodes that do not exist fill no memory, and what has gone makes room', () => {
    const groups = Object.fromEntries(
      Array.from({ length: 1000 }, (_, at) => [`group-${at}-${'x'.repeat(20)}`, 'a'.repeat(16)]),
    );
    const bytes = JSON.stringify(groups).length;
    const room = Math.floor(READ_BYTES_MAX / bytes);
    const told = Array.from({ length: 2 * room }, (_, at) => tell(`made-up-${at}`, 0, groups));
    expect(a.node.registry?.ignored).toBeGreaterThanOrEqual(room);
    expect(lines(a).filter(([text]) => /no room for more hashes/.test(String(text)))).toHaveLength(1);
    const ignored = a.node.registry?.ignored as number;
    tell('a', 7, groups);
    for (const key of told) a.node.registry?.comparison.read(key, null);
    tell('made-up-again', 0, groups);
    expect(a.node.registry?.ignored).toBe(ignored);
  });
});

it('a hash is that of what a group means', () => {
  const hash = (group: unknown) => {
    const raw = { cluster: 'c', groups: { x: group } };
    const [config] = resolveConfig(raw, { source: '(test)' }).groups;
    return config === undefined ? '' : definitionHash(config);
  };
  expect(hash({ weights: { a: 1, b: 2 }, debtMs: '60s' })).toBe(hash({ weights: { b: 2, a: 1 } }));
  expect(hash({})).not.toBe(hash({ debtMs: 101 }));
  expect(hash({ weights: { a: 1 } })).toMatch(/^[0-9a-f]{8}$/);
});
