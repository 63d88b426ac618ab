import { describe, expect, test } from 'vitest';
import { examineGroup } from '../../../src/config/read/group-definition.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { GroupConfig, KeyTemplate } from '../../../src/config/resolved/resolved-config.js';
import { examineOverride, examineTemplate } from '../../../src/node/groups/keys/key-definition.js';
import { leastDefinition, leastOverride, leastTemplate } from '../../../src/node/groups/least-definition.js';

function resolved(raw: object) {
  return resolveConfig({ cluster: 'demo', node: 'a', ...raw }, { source: '(test)', env: {} });
}

const PER_MINUTE = (amount: number) => ({ quota: { publish: { messagesPerSecond: `${amount}/min` } } });

describe('the least that has to be written', () => {
  test.each<{ readonly group: object; readonly defaults?: object }>([
    { group: {} },
    { group: PER_MINUTE(600) },
    { group: PER_MINUTE(5) },
    { group: { quota: { publish: { messagesPerSecond: 0 }, dispatch: { bytesPerSecond: '1MiB/h' } }, debtMs: 5 } },
    { group: { quota: { publish: { costPerSecond: 100, reservedCostPerSecond: 10 } } } },
    { group: { quota: { publish: { messagesPerSecond: 100 } }, burst: 60, strategy: 'equal', weights: { a: 2 } } },
    { group: { quota: { publish: { messagesPerSecond: 100 } }, debtMs: '2s', slewPerSecond: 5 } },
    { group: { perTopic: { publish: { messagesPerSecond: 7 } }, maxRequest: { messages: 9 }, enabled: false } },
    { group: PER_MINUTE(600), defaults: { strategy: 'proportional', debtMs: '1s', burst: 7 } },
  ])('is read as the same group: $group', ({ group, defaults = {} }) => {
    const [config] = resolved({ defaults, groups: { orders: group } }).groups as [GroupConfig];
    const least = leastDefinition(config);
    expect(examineGroup('orders', least, '(test)')).toEqual({ config, mistakes: [] });
  });

  test('is what was written', () => {
    const orders = { ...PER_MINUTE(600), strategy: 'equal', enabled: true, debtMs: 60_000 };
    const [config] = resolved({ groups: { orders } }).groups as [GroupConfig];
    expect(leastDefinition(config)).toEqual({ ...PER_MINUTE(600), strategy: 'equal' });
  });

  test('of a template and of single keys of it', () => {
    const quota = { publish: { messagesPerSecond: 5 } };
    const overrides = { gold: PER_MINUTE(1200), own: { quota, strategy: 'equal' } };
    const written = { ...PER_MINUTE(600), burst: 60, overrides, allowLimits: { quota } };
    const [template] = resolved({ keys: { 'key:{id}': written } }).keys.templates as [KeyTemplate];
    const least = leastTemplate(template);
    expect(least).toMatchObject({
      ...PER_MINUTE(600),
      overrides: { 'key:gold': PER_MINUTE(1200), 'key:own': { quota, strategy: 'equal' } },
    });
    expect(Object.keys(least).sort()).toEqual(['allowLimits', 'burst', 'overrides', 'quota']);
    expect(examineTemplate('key:{id}', least, '(test)')).toEqual({ template, mistakes: [] });
    const [gold] = template.overrides as [GroupConfig];
    expect(leastOverride(template, gold)).toMatchObject(PER_MINUTE(1200));
  });

  test.each([
    { template: PER_MINUTE(600), own: { strategy: 'equal' }, least: { strategy: 'equal' } },
    {
      template: { quota: { publish: { costPerSecond: 100, reservedCostPerSecond: 50 } } },
      own: { quota: { publish: { reservedCostPerSecond: 0 } } },
    },
    { template: PER_MINUTE(5), own: { quota: { publish: { messagesPerSecond: 500 } } }, defaults: { debtMs: 500 } },
  ])('a key of its own is read back over its template: $own', ({ template: written, own, least, defaults = {} }) => {
    const raw = { defaults, keys: { 'key:{id}': { ...written, overrides: { own } } } };
    const [template] = resolved(raw).keys.templates as [KeyTemplate];
    const [config] = template.overrides as [GroupConfig];
    const found = leastOverride(template, config);
    if (least !== undefined) expect(found).toEqual(least);
    const read = examineOverride(template, 'key:own', found, '(test)').config as GroupConfig;
    expect(read).toEqual(config);
  });
});
