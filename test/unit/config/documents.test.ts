import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';

const ROOT = new URL('../../../', import.meta.url);
const FILES = ['README.md', ...readdirSync(new URL('docs', ROOT), { recursive: true }).map((file) => `docs/${file}`)];

/** Whole configurations: blocks that name a cluster. */
const BLOCKS = FILES.filter((file) => file.endsWith('.md')).flatMap((file) => {
  const text = readFileSync(new URL(file, ROOT), 'utf8');
  return [...text.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].flatMap(([, yaml = ''], at) =>
    /^cluster:/m.test(yaml) ? [{ where: `${file}, block ${at + 1}`, yaml }] : [],
  );
});

describe('configurations in documents are without mistakes', () => {
  test('there are some', () => expect(BLOCKS.length).toBeGreaterThanOrEqual(2));

  test.each(BLOCKS)('$where', ({ yaml }) => {
    const { raw, mistakes } = parseYaml(yaml);
    expect(mistakes).toEqual([]);
    const { cluster } = resolveConfig({ node: 'a', ...(raw as object) }, { source: 'docs' });
    expect(cluster).toBeTruthy();
  });
});

test('the level of a backend takes units, as in docs/guide/target-rate.md', () => {
  const db = { url: 'http://db-1/metrics', metric: 'queue_bytes', target: '800M', spring: '0.5k' };
  const { backends } = resolveConfig(
    { cluster: 'shop', node: 'a', topic: 'memory', backends: { db }, groups: { orders: {} } },
    { source: 'test' },
  );
  expect(backends[0]).toMatchObject({ target: 800e6, spring: 500 });
});
