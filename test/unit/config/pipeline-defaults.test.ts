import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeConfig } from '../../../src/config/describe/describe-config.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';

/** The example of the page, as a reader would copy it. */
function pipeline() {
  const page = readFileSync(new URL('../../../docs/guide/batches-and-refunds.md', import.meta.url), 'utf8');
  const [, yaml] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const raw = parseYaml(`cluster: c\nnode: n\ntopic: memory\n${yaml}`).raw;
  return resolveConfig(raw, { source: '(docs/guide/batches-and-refunds.md)' });
}

test('a vertex that overrides one key keeps all others, below ramp and isolation too', () => {
  const [parse, embed] = pipeline().groups;
  expect(parse?.quota.publish[0]).toBe(900);
  expect(embed?.quota.publish[0]).toBe(200);
  expect(embed).toMatchObject({ limiter: 'window', isolation: { policy: 'closed', holdMs: 5000 } });
  expect(embed?.ramp).toEqual({ ...parse?.ramp, overMs: 60_000 });
  expect(embed?.ramp).toMatchObject({ mode: 'only-if-used', fromPerSecond: 10, thresholdRatio: 0.8 });
});

test('a disabled vertex limits nothing, whatever it inherits; what is printed says what is in force', () => {
  const config = pipeline();
  expect(config.groups[2]).toMatchObject({ enabled: false, ramp: null });
  expect(config.groups[2]?.quota.publish).toEqual([Infinity, Infinity]);
  const printed = describeConfig(config);
  expect(printed).toContain('limiter: window');
  expect(resolveConfig(parseYaml(printed).raw, { source: '(printed)' }).groups).toEqual(config.groups);
});

test('defaults of a ramp are for the groups that have one; another takes it back by null, as a whole or by its beginning', () => {
  const groupsOf = (ramp: string, groups: string) =>
    resolveConfig(parseYaml(`cluster: c\nnode: n\ntopic: memory\ndefaults: { ramp: ${ramp} }\ngroups: ${groups}`).raw, {
      source: '(test)',
    }).groups.map((group) => group.ramp && [group.ramp.fromPerSecond, group.ramp.toPerSecond, group.ramp.overMs]);
  const some = '{ a: { ramp: { fromPerSecond: 100 } }, b: {} }';
  expect(groupsOf('{ toPerSecond: 500, overMs: 30s }', some)).toEqual([[100, 500, 30_000], null]);
  const without = '{ a: {}, b: { ramp: null }, c: { ramp: { fromPerSecond: null } } }';
  expect(groupsOf('{ fromPerSecond: 100, toPerSecond: 500 }', without)).toEqual([[100, 500, 10_000], null, null]);
});
