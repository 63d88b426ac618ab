import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ERROR_CATALOGUE } from '../../../src/base/errors/catalogue.js';
import { describeConfig } from '../../../src/config/describe/describe-config.js';
import type { Environment } from '../../../src/config/read/environment.js';
import { examineConfig, resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { ResolvedConfig } from '../../../src/config/resolved/resolved-config.js';
import { RATE_MAX } from '../../../src/config/schema/limits.js';
import { formatMistake } from '../../../src/config/setting/config-error.js';
import { RATE_LEAST } from '../../../src/config/setting/measured.js';
import {
  formatQuantity,
  parseRate,
  SECONDS_OF,
  SHORT_UNIT,
  TIME_UNITS,
  type TimeUnit,
} from '../../../src/config/setting/quantity.js';
import { RATE_NAMES, rateKey, spelledRate } from '../../../src/config/setting/written-rate.js';
import { definitionHash } from '../../../src/node/groups/yaml/yaml-groups.js';
import { runs } from '../../property/seed.js';

describe('a rate in its own unit of time', () => {
  const shown = (kind: 'rate' | 'byte-rate', amount: number, per: TimeUnit) =>
    `${formatQuantity(kind, amount)}/${SHORT_UNIT[per]}`;

  test.each([
    ['5/s', 5, 'second'],
    ['600/min', 600, 'minute'],
    ['100/h', 100, 'hour'],
    ['10k/d', 10_000, 'day'],
  ] as const)('%s is %d per %s, and is printed so', (text, amount, per) => {
    expect(parseRate('rate', text)).toEqual({ amount, per });
    expect(shown('rate', amount, per)).toBe(text);
  });

  test('is read back as it was, in its own unit of time', () => {
    const kinds = fc.constantFrom('rate', 'byte-rate');
    const amounts = fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e15, noNaN: true }).map(String).map(Number));
    fc.assert(
      fc.property(kinds, amounts, fc.constantFrom(...TIME_UNITS), (kind, amount, per) => {
        fc.pre(!/e-\d{4}/.test(String(amount)) && String(amount).length <= 20);
        expect(parseRate(kind, shown(kind, amount, per))).toEqual({ amount, per });
      }),
    );
  });
});

test('a configuration is printed as it was written, and enforced per second', () => {
  const names = fc.constantFrom('messages' as const, 'bytes' as const, 'cost' as const);
  fc.assert(
    fc.property(names, fc.constantFrom(...TIME_UNITS), fc.integer({ min: 0, max: 1e12 }), (name, per, amount) => {
      const config = resolved({
        groups: { a: { quota: { publish: { [rateKey(name)]: `${amount}/${SHORT_UNIT[per]}` } } } },
      });
      const written = quotaOf(config);
      expect(written).toEqual({ [rateKey(name)]: spelledRate({ amount, per }), reservedCostPerSecond: 0 });
      const [group] = config.groups;
      const [messages, bytes] = group.quota.publish;
      const enforced = { messages, bytes, cost: group.cost.publish.total };
      expect(enforced[name]).toBe(amount / SECONDS_OF[per]);
      // What is printed is a configuration of the same meaning.
      expect(resolveConfig(parse(describeConfig(config)), { source: 'printed' }).groups).toEqual(config.groups);
    }),
    runs(30),
  );
});

test.each([
  ['messagesPerSecond', '600/min', '600/min'],
  ['messagesPerSecond', '10k', 10_000],
  ['messagesPerSecond', '10k/s', 10_000],
  ['bytesPerSecond', '1MiB/day', '1048576/d'],
])('%s: %s is printed as %s', (key, text, shown) => {
  const written = quotaOf(resolved({ groups: { a: { quota: { publish: { [key]: text } } } } }));
  expect(written).toEqual({ [key]: shown, reservedCostPerSecond: 0 });
});

test('limits of the node, of topics and of clients take every unit of time', () => {
  const config = resolved({
    limits: { publish: { messagesPerSecond: '90/min' } },
    groups: {
      a: {
        perTopic: { publish: { bytesPerSecond: '7200/h' } },
        perClient: { dispatch: { messagesPerSecond: '86400/d' } },
      },
    },
  });
  expect(config.limits.publish[0]).toBe(1.5);
  expect(config.groups[0].perTopic.publish[1]).toBe(2);
  expect(config.groups[0].perClient.dispatch[0]).toBe(1);
  const printed = parse(describeConfig(config));
  expect(printed.limits.publish).toEqual({ messagesPerSecond: '90/min' });
  expect(printed.groups.a.perTopic.publish).toEqual({ bytesPerSecond: '7200/h' });
  expect(printed.groups.a.perClient.dispatch).toEqual({ messagesPerSecond: '86400/d' });
});

describe('what is inherited', () => {
  test.each([
    [{ messagesPerSecond: 100 }, { messagesPerSecond: '5/min' }, { messagesPerSecond: '5/min' }],
    [{ messagesPerSecond: '5/min' }, { messagesPerSecond: 100 }, { messagesPerSecond: 100 }],
    [{ messagesPerSecond: '5/h' }, { messagesPerSecond: '5k/d' }, { messagesPerSecond: '5000/d' }],
    [
      { messagesPerSecond: '5/min' },
      { bytesPerSecond: '100/h' },
      { messagesPerSecond: '5/min', bytesPerSecond: '100/h' },
    ],
    [{ messagesPerSecond: '5/min' }, { messagesPerSecond: null }, {}],
    [{ messagesPerSecond: '5/min' }, { messagesPerSecond: undefined }, { messagesPerSecond: '5/min' }],
  ])('%j below defaults, %j in the group: %j', (below, own, expected) => {
    const config = resolved({ defaults: { quota: { publish: below } }, groups: { a: { quota: { publish: own } } } });
    expect(quotaOf(config)).toEqual({ ...expected, reservedCostPerSecond: 0 });
  });

  test('gives way to a variable in another unit of time', () => {
    const env = { QUOTAMESH_DEFAULTS_QUOTA_PUBLISH_MESSAGES_PER_SECOND: '5/min' };
    const config = resolved({ defaults: { quota: { publish: { messagesPerSecond: 100 } } }, groups: { a: {} } }, env);
    expect(quotaOf(config)).toEqual({ messagesPerSecond: '5/min', reservedCostPerSecond: 0 });
  });
});

describe('a mistake is told with its reason and a remedy', () => {
  test('nothing between 0 and the smallest rate is taken, in whatever unit; the smallest one is', () => {
    const amounts = fc.oneof(
      fc.double({ min: 0, max: RATE_LEAST, minExcluded: true, maxExcluded: true, noNaN: true }),
      fc.integer({ min: 10, max: 999 }).map((exponent) => `1e-${exponent}`),
    );
    fc.assert(
      fc.property(fc.constantFrom(...RATE_NAMES), fc.constantFrom(...TIME_UNITS), amounts, (name, per, amount) => {
        const publish = { [rateKey(name)]: `${amount}/${SHORT_UNIT[per]}` };
        expect(mistakesOf({ groups: { a: { quota: { publish } } } })).toEqual([expect.stringContaining('30 years')]);
      }),
    );
    for (const amount of [0, '0', '0e5', '0.0', RATE_LEAST, `${RATE_LEAST}/s`]) {
      expect(mistakesOf({ groups: { a: { quota: { publish: { messagesPerSecond: amount } } } } })).toEqual([]);
    }
  });

  test('remedies of the catalogue name the bounds that count', () => {
    expect(ERROR_CATALOGUE.QUOTA_TOO_LARGE.remedy).toContain(`at most ${formatQuantity('rate', RATE_MAX)},`);
    expect(ERROR_CATALOGUE.QUOTA_TOO_SMALL.remedy).toContain(`at least ${RATE_LEAST}/s,`);
  });
});

test('groups that mean the same have the same hash, whatever their unit of time', () => {
  const hashOf = (publish: object) => definitionHash(resolved({ groups: { a: { quota: { publish } } } }).groups[0]);
  expect(hashOf({ messagesPerSecond: '5/min' })).toBe(hashOf({ messagesPerSecond: '300/h' }));
  expect(hashOf({ messagesPerSecond: '60/min' })).toBe(hashOf({ messagesPerSecond: 1 }));
  expect(hashOf({ messagesPerSecond: '60/min' })).not.toBe(hashOf({ messagesPerSecond: 60 }));
});

function resolved(written: object, env: Environment = {}): ResolvedConfig {
  return resolveConfig({ cluster: 'demo', ...written }, { source: 'test', env });
}

function quotaOf(config: ResolvedConfig): unknown {
  return parse(describeConfig(config)).groups.a.quota.publish;
}

function mistakesOf(written: object): string[] {
  return examineConfig({ cluster: 'demo', ...written }, { source: 'test' }).mistakes.map(formatMistake);
}
