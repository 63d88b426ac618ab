import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ratelimit } from '../../src/doors/envoy/generated/messages.js';
import { decoded } from '../../src/doors/envoy/grpc/decoded.js';
import { type CompiledRules, compileRules } from '../../src/doors/envoy/rules/compile-rules.js';
import type { DescriptorEntry } from '../../src/doors/envoy/rules/descriptor-rules.js';
import { readXdsRules } from '../../src/doors/envoy/rules/read-xds-rules.js';
import { readYamlRules } from '../../src/doors/envoy/rules/read-yaml-rules.js';
import { Wildcards } from '../../src/doors/envoy/rules/wildcards.js';
import { RuleFindings, type WrittenDescriptor } from '../../src/doors/envoy/rules/written-rules.js';
import { bySpecificity, patternOf } from '../../src/node/groups/keys/settings-of-key.js';
import { runs } from './seed.js';

/** Few letters, among them those with a meaning in names, so that texts are often alike. */
const letter = fc.constantFrom('a', 'b', '/', ':', '@', '~', '{', '}', 'ü', ' ', '2');
const text = fc.array(letter, { minLength: 1, maxLength: 3 }).map((letters) => letters.join(''));
const key = fc.constantFrom('k', 'l', 'a@b', 'k/l');
const wildcard = fc
  .array(fc.oneof(letter, fc.constant('*')), { minLength: 1, maxLength: 4 })
  .map((all) => all.join(''));
const value = fc.oneof(fc.constant(''), text, wildcard, key);
const sent = fc.oneof(
  text,
  fc.array(letter, { maxLength: 5 }).map((letters) => letters.join('')),
  key,
);
const PLACE = { file: 'a', line: 1, column: 1, path: '' };

const { descriptor } = fc.letrec<{ descriptor: WrittenDescriptor; descriptors: WrittenDescriptor[] }>((tie) => ({
  descriptor: fc.record({
    place: fc.constant(PLACE),
    key,
    value,
    limit: fc.option(
      fc.nat(9).map((requestsPerUnit) => {
        return { place: PLACE, unit: 'day', requestsPerUnit, isUnlimited: false, label: '', replaces: [] };
      }),
    ),
    isShadow: fc.boolean(),
    isQuota: fc.constant(false),
    sharesThreshold: fc.boolean(),
    metadata: fc.constant(null),
    descriptors: tie('descriptors'),
  }),
  descriptors: fc.oneof(
    { depthSize: 'small' },
    fc.constant<WrittenDescriptor[]>([]),
    fc.array(tie('descriptor'), { maxLength: 4 }),
  ),
}));
const rules = fc.array(descriptor, { minLength: 1, maxLength: 6 }).map((descriptors) => {
  // Rules with a mistake are left out, and the others stay.
  return compileRules([{ place: PLACE, domain: 'd/x', descriptors }], new RuleFindings());
});
const descriptors = fc.array(fc.array(fc.record({ key, value: sent }), { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 20,
});

test('a bucket is of the group or template of the rule that was found, and of no other', () => {
  fc.assert(
    fc.property(rules, descriptors, (compiled, asked) => {
      for (const entries of asked) {
        const rule = compiled.find('d/x', entries);
        if (rule === null) continue;
        const bucket = rule.bucketOf('d/x', entries);
        expect(ownerOf(compiled, bucket)).toBe(rule.bucket);
      }
    }),
    runs(1000),
  );
});

test('two descriptors have one bucket where their rule shares it between their values, and nowhere else', () => {
  fc.assert(
    fc.property(rules, descriptors, (compiled, asked) => {
      const owners = new Map<string, string>();
      for (const entries of asked) {
        const rule = compiled.find('d/x', entries);
        if (rule === null) continue;
        const bucket = rule.bucketOf('d/x', entries);
        const owner = JSON.stringify([rule.bucket, ownValues(rule.bucket, entries)]);
        expect(owners.get(bucket) ?? owner).toBe(owner);
        owners.set(bucket, owner);
      }
    }),
    runs(1000),
  );
});

test('rules have different names, which groups and patterns may have', () => {
  fc.assert(
    fc.property(rules, (compiled) => {
      const names = compiled.all.map(({ bucket }) => bucket);
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) expect(name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._:/@+~{}-]{0,199}$/);
    }),
    runs(300),
  );
});

test('the first wildcard of the file counts, as a regular expression of each finds it', () => {
  fc.assert(
    fc.property(
      fc.array(
        wildcard.map((one) => `${one}*`),
        { maxLength: 8 },
      ),
      sent,
      (patterns, asked) => {
        const wildcards = new Wildcards<number>();
        for (const [at, pattern] of patterns.entries()) wildcards.add(pattern, at);
        const first = patterns.findIndex((pattern) => expressionOf(pattern).test(asked));
        expect(wildcards.find(asked)).toBe(first === -1 ? null : first);
      },
    ),
    runs(1000),
  );
});

test('a name that is too long goes by its beginning and its digest, and has its values behind them', () => {
  const long = 'x'.repeat(150);
  const rulesOf = (domain: string, last: string) => {
    const descriptors = [{ ...leaf(long, ''), descriptors: [{ ...leaf(long, last), descriptors: [leaf('k', '')] }] }];
    return { place: PLACE, domain, descriptors };
  };
  const compiled = compileRules([rulesOf('d', 'one'), rulesOf('d2', 'two')], new RuleFindings());
  const deep = compiled.all.filter(({ name }) => name.endsWith('k'));
  expect(deep.map(({ bucket }) => bucket)).toEqual([
    expect.stringMatching(/^d\/x{137}~sha256:[\w-]{43}@\{v1\}\/\{v2\}$/),
    expect.stringMatching(/^d2\/x{136}~sha256:[\w-]{43}@\{v1\}\/\{v2\}$/),
  ]);
  const entries = [long, long, 'k'].map((name, at) => ({ key: name, value: ['a/b', 'one', 'c'][at] ?? '' }));
  const bucket = compiled.find('d', entries)?.bucketOf('d', entries) ?? '';
  expect(bucket).toMatch(/~sha256:[\w-]{43}@a~2Fb\/c$/);
  expect(ownerOf(compiled, bucket)).toBe(deep[0]?.bucket);
});

const TEXT = `
domain: d
descriptors:
  - key: a
    value: "x*"
    share_threshold: true
    rate_limit: &slow { unit: day, requests_per_unit: 5, name: n, replaces: [{ name: m }] }
  - { key: b, rate_limit: { <<: *slow, unlimited: false }, metadata: { a: [1, { b: null }] } }
  - key: c
    descriptors: [{ key: d, shadow_mode: yes }]
`;

test('a file that is cut, doubled or changed anywhere is read, or has mistakes: nothing is thrown', () => {
  const at = fc.nat(TEXT.length);
  const letters = fc.stringMatching(/^[ -~\n]{0,5}$/);
  fc.assert(
    fc.property(fc.array(fc.record({ at, to: at, letters }), { minLength: 1, maxLength: 4 }), (changes) => {
      let changed = TEXT;
      for (const { at: from, to, letters: put } of changes) changed = changed.slice(0, from) + put + changed.slice(to);
      const findings = new RuleFindings();
      const written = readYamlRules('a.yaml', changed, findings);
      const compiled = compileRules(written === null ? [] : [written], findings);
      for (const { line, problem, remedy } of findings.mistakes) {
        expect(line).toBeGreaterThan(0);
        expect(`${problem} ${remedy}`).not.toMatch(/undefined|null,|\[object/);
      }
      if (findings.mistakes.length === 0)
        expect(compiled.all.every(({ bucket, becomes }) => bucket !== '' || becomes === 'unlimited')).toBe(true);
    }),
    runs(1500),
  );
});

test('resources of xDS are read whatever their bytes are, or refused as no message', () => {
  const { RateLimitConfig } = ratelimit.config.ratelimit.v3;
  const sound = RateLimitConfig.encode({
    domain: 'd',
    descriptors: [
      { key: 'k', rateLimit: { unit: 4, requestsPerUnit: 5 }, metadata: { fields: { a: { numberValue: 1 } } } },
    ],
  }).finish();
  const change = fc.record({ at: fc.nat(sound.length - 1), byte: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 4 }), fc.uint8Array({ maxLength: 20 }), (changes, more) => {
      const bytes = Buffer.concat([sound, more]);
      for (const { at, byte } of changes) bytes[at] = byte;
      const findings = new RuleFindings();
      try {
        compileRules([readXdsRules(decoded(RateLimitConfig, bytes), findings)], findings);
      } catch (error) {
        expect(error).toMatchObject({ code: 'GRPC_REQUEST_INVALID' });
      }
    }),
    runs(1500),
  );
});

function leaf(name: string, written: string): WrittenDescriptor {
  const limit = { place: PLACE, unit: 'day', requestsPerUnit: 1, isUnlimited: false, label: '', replaces: [] };
  const modes = { isShadow: false, isQuota: false, sharesThreshold: false, metadata: null };
  return { place: PLACE, key: name, value: written, limit, ...modes, descriptors: [] };
}

/** Returns the group of a name, or the template that a node would find for it. */
function ownerOf({ groups, templates }: CompiledRules, bucket: string): string | undefined {
  if (groups.some(({ name }) => name === bucket)) return bucket;
  const matching = templates.filter((template) => patternOf(template).matches(bucket));
  return matching.sort(bySpecificity)[0]?.pattern;
}

/** Returns the values for which a rule has buckets of their own, by its pattern. */
function ownValues(pattern: string, entries: readonly DescriptorEntry[]): readonly string[] {
  const levels = pattern.split('/').slice(1);
  return entries.filter((_, at) => levels[at]?.includes('@{v')).map((entry) => entry.value);
}

function expressionOf(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*')}$`);
}
