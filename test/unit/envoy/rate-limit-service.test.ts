import { afterEach, describe, expect, test } from 'vitest';
import { envoy } from '../../../src/doors/envoy/generated/messages.js';
import { GRPC_STATUS } from '../../../src/doors/envoy/grpc/grpc-status.js';
import { RateLimitService } from '../../../src/doors/envoy/ratelimit/rate-limit-service.js';
import type { DescriptorRule, DescriptorRules } from '../../../src/doors/envoy/rules/descriptor-rules.js';
import { domainsOf } from './known-domains.js';
import { nameOf, type RlsScene, rlsScene, SHOULD_RATE_LIMIT } from './rls-scene.js';

const { RateLimitRequest, RateLimitResponse } = envoy.service.ratelimit.v3;
const { Unit } = RateLimitResponse.RateLimit;

const open: RlsScene[] = [];
afterEach(async () => {
  for (const scene of open.splice(0)) await scene.close();
});

async function scene(...how: Parameters<typeof rlsScene>): Promise<RlsScene> {
  const made = await rlsScene(...how);
  open.push(made);
  return made;
}

const perDay = (messages: number) => ({ quota: { publish: { messagesPerSecond: `${messages}/d` } } });

describe('one descriptor', () => {
  const config = { keys: { 'edge/user:{id}': perDay(10) }, groups: { 'edge/generic_key:db': perDay(3) } };

  test('is charged to the key of its name, each value apart', async () => {
    const { short, door } = await scene(config);
    for (let left = 9; left >= 0; left--) expect(await short('edge', [{ user: 'alice' }])).toBe(`OK ${left}`);
    expect(await short('edge', [{ user: 'alice' }])).toBe('OVER_LIMIT 0');
    expect(await short('edge', [{ user: 'bob' }])).toBe('OK 9');
    expect(await short('edge', [{ generic_key: 'db' }])).toBe('OK 2');
    expect(door.rateLimits.counts).toMatchObject({
      requests: { ok: 12, overLimit: 1 },
      descriptors: { granted: 12, refused: 1, unlimited: 0 },
      refusedBy: { 'edge/user:{id}': 1 },
    });
  });

  test('its status has limit, unit, and the time until the next; a refusal tells who refused', async () => {
    const { ask } = await scene(config);
    const granted = await ask('edge', [{ generic_key: 'db' }], { hitsAddend: 3 });
    expect(granted.statuses[0]).toMatchObject({
      currentLimit: { requestsPerUnit: 3, unit: Unit.DAY, name: 'edge/generic_key:db' },
    });
    const refused = await ask('edge', [{ generic_key: 'db' }]);
    expect(nameOf(refused.overallCode)).toBe('OVER_LIMIT');
    // A third of a day is one hit.
    const seconds = Number(refused.statuses[0]?.durationUntilReset?.seconds);
    expect(seconds).toBeGreaterThan(28_700);
    expect(seconds).toBeLessThanOrEqual(28_800);
    expect(refused.dynamicMetadata?.fields).toMatchObject({
      rule: { stringValue: 'edge/generic_key:db' },
      bucket: { stringValue: 'edge/generic_key:db' },
    });
  });

  test('hits: 0 of the request is one, of the descriptor a look; the descriptor goes before the request', async () => {
    const { short } = await scene({ ...config, envoy: { chargedAfterwards: 'none' } });
    const user = [{ user: 'alice' }];
    const own = (value: number) => ({ beside: [{ hitsAddend: { value } }] });
    expect(await short('edge', user, { hitsAddend: 0 })).toBe('OK 9');
    expect(await short('edge', user, { hitsAddend: 4 })).toBe('OK 5');
    expect(await short('edge', user, { hitsAddend: 4, ...own(2) })).toBe('OK 3');
    expect(await short('edge', user, { hitsAddend: 4, ...own(0) })).toBe('OK 3');
    // More than there is takes nothing, and more than a full bucket has neither.
    expect(await short('edge', user, own(4))).toBe('OVER_LIMIT 0');
    expect(await short('edge', user, own(11))).toBe('OVER_LIMIT 0');
    expect(await short('edge', user, own(2 ** 60))).toBe('OVER_LIMIT 0');
    expect(await short('edge', user, own(3))).toBe('OK 0');
    expect(await short('edge', user, own(0))).toBe('OVER_LIMIT 0');
  });

  test.each(['second', 'minute', 'hour', 'day', 'week', 'month', 'year'])(
    'a quota per %s is told as such',
    async (unit) => {
      const { ask } = await scene({
        groups: { 'edge/all:x': { quota: { publish: { messagesPerSecond: `5/${unit}` } } } },
      });
      const { statuses } = await ask('edge', [{ all: 'x' }]);
      const name = unit.toUpperCase() as keyof typeof Unit;
      expect(statuses[0]).toMatchObject({ code: 1, currentLimit: { requestsPerUnit: 5, unit: Unit[name] } });
    },
  );

  test('a group in the shadow grants, and counts', async () => {
    const { short } = await scene({ groups: { 'edge/user:alice': { ...perDay(1), mode: 'shadow' } } });
    for (let asked = 0; asked < 3; asked++) expect(await short('edge', [{ user: 'alice' }])).toMatch(/^OK /);
  });

  test('what nothing limits passes; of an unknown domain by the setting', async () => {
    const allows = await scene(config);
    const UINT32_MAX = 4_294_967_295;
    expect(await allows.short('edge', [{ other: 'x' }])).toBe(`OK ${UINT32_MAX}`);
    expect(await allows.short('misspelled', [{ user: 'x' }])).toBe(`OK ${UINT32_MAX}`);
    expect(allows.door.rateLimits.counts.unknownDomain).toBe(1);
    const refuses = await scene({ ...config, envoy: { unknownDomain: 'refuse' } });
    expect(await refuses.short('edge', [{ other: 'x' }])).toBe(`OK ${UINT32_MAX}`);
    expect(await refuses.short('misspelled', [{ user: 'x' }, { user: 'y' }])).toBe('OVER_LIMIT 0 0');
  });

  test('a limit with the request holds where the template allows it', async () => {
    const allowLimits = { quota: { publish: { messagesPerSecond: '20/d' } } };
    const { short, door } = await scene({
      keys: { 'edge/user:{id}': { ...perDay(5), allowLimits }, 'edge/app:{id}': perDay(5) },
    });
    const limited = (requestsPerUnit: number, unit: number) => ({ beside: [{ limit: { requestsPerUnit, unit } }] });
    expect(await short('edge', [{ user: 'a' }], limited(20, Unit.DAY))).toBe('OK 19');
    expect(await short('edge', [{ user: 'd' }], limited(140, Unit.WEEK))).toBe('OK 139');
    // Beyond what is allowed, or where nothing is, the template's own limit holds.
    expect(await short('edge', [{ user: 'b' }], limited(21, Unit.DAY))).toBe('OK 4');
    expect(await short('edge', [{ app: 'a' }], limited(20, Unit.DAY))).toBe('OK 4');
    expect(await short('edge', [{ user: 'c' }], limited(20, Unit.UNKNOWN))).toBe('OK 4');
    expect(door.rateLimits.overridesRefused).toBe(3);
  });
});

describe('several descriptors', () => {
  const config = { keys: { 'edge/user:{id}': perDay(5) }, groups: { 'edge/all:x': perDay(2) } };
  const both = [{ user: 'alice' }, { all: 'x' }];

  test('are charged all or none, and the one that is over is told', async () => {
    const { short, ask } = await scene(config);
    expect(await short('edge', both)).toBe('OK 4 1');
    expect(await short('edge', both)).toBe('OK 3 0');
    const refused = await ask('edge', both);
    expect(refused.statuses.map(({ code }) => nameOf(code))).toEqual(['OK', 'OVER_LIMIT']);
    expect(refused.dynamicMetadata?.fields?.bucket).toMatchObject({ stringValue: 'edge/all:x' });
    expect(await short('edge', [{ user: 'alice' }])).toBe('OK 2');
  });

  test('the same one twice is charged twice', async () => {
    const { short } = await scene(config);
    expect(await short('edge', [{ all: 'x' }, { all: 'x' }])).toBe('OK 1 0');
    expect(await short('edge', [{ all: 'x' }, { all: 'x' }])).toBe('OVER_LIMIT 0 0');
  });

  test('random requests keep to a model of counters', async () => {
    const quotas = [7, 11, 13];
    const groups = Object.fromEntries(quotas.map((quota, at) => [`edge/k:${at}`, perDay(quota)]));
    const { ask } = await scene({ groups, envoy: { chargedAfterwards: 'none' } });
    const left = [...quotas];
    let seed = 4711;
    const draw = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (let asked = 0; asked < 60; asked++) {
      const of = Array.from({ length: 1 + draw(3) }, () => draw(3));
      const hits = of.map(() => draw(3));
      const beside = hits.map((value) => ({ hitsAddend: { value } }));
      const after = [...left];
      const isOver = of.map((at, number) => {
        const wanted = hits[number] as number;
        const isShort = (after[at] as number) < Math.max(1, wanted);
        if (!isShort) after[at] = (after[at] as number) - wanted;
        return isShort;
      });
      if (!isOver.includes(true)) left.splice(0, 3, ...after);
      const answer = await ask(
        'edge',
        of.map((at) => ({ k: String(at) })),
        { beside },
      );
      expect(answer.statuses.map(({ code }) => nameOf(code))).toEqual(isOver.map((is) => (is ? 'OVER_LIMIT' : 'OK')));
    }
    expect(left).not.toEqual(quotas);
  });
});

describe('hits of work that is done', () => {
  const config = { keys: { 'edge/user:{id}': perDay(100) }, groups: { 'edge/all:x': perDay(2) } };
  const user = [{ user: 'alice' }];
  const own = (value: number) => ({ beside: [{ hitsAddend: { value } }] });

  test('of a rule that is looked at are a debt, of one bucket at most, and refuse the next look', async () => {
    const { short, door } = await scene(config);
    // Before the first look they are refused, and cost nothing.
    expect(await short('edge', user, own(130))).toBe('OVER_LIMIT 0');
    expect(await short('edge', user, own(0))).toBe('OK 100');
    expect(await short('edge', user, own(90))).toBe('OK 10');
    expect(await short('edge', user, own(0))).toBe('OK 10');
    expect(await short('edge', user, own(50))).toBe('OVER_LIMIT 0');
    expect(await short('edge', user, own(0))).toBe('OVER_LIMIT 0');
    expect(await short('edge', user)).toBe('OVER_LIMIT 0');
    expect(door.rateLimits.counts.descriptors).toMatchObject({ owed: 1, refused: 3 });
  });

  test('the debt is paid back before anything is granted', async () => {
    const { short, ask } = await scene({
      keys: { 'edge/user:{id}': { quota: { publish: { messagesPerSecond: '3600/h' } } } },
    });
    await ask('edge', user, own(0));
    await ask('edge', user, own(3600));
    await ask('edge', user, own(100));
    const { statuses } = await ask('edge', user, own(0));
    // A look waits for 1 % of the bucket, 36 s, behind the debt of 100.
    const seconds = Number(statuses[0]?.durationUntilReset?.seconds);
    expect(seconds).toBeGreaterThan(50);
    expect(await short('edge', [{ user: 'bob' }], own(0))).toMatch(/^OK/);
  });

  test('are charged also where another descriptor of the request refuses', async () => {
    const { short, ask } = await scene(config);
    const both = [{ user: 'alice' }, { all: 'x' }];
    await ask('edge', user, own(0));
    const beside = { beside: [{ hitsAddend: { value: 40 } }] };
    expect(await short('edge', both, beside)).toBe('OK 60 1');
    expect(await short('edge', both, beside)).toBe('OK 20 0');
    expect(await short('edge', both, beside)).toBe('OVER_LIMIT 0 0');
    expect(await short('edge', user, own(0))).toBe('OVER_LIMIT 0');
  });

  test('all: also of rules that nobody looks at; none: of no rule', async () => {
    const all = await scene({ ...config, envoy: { chargedAfterwards: 'all' } });
    expect(await all.short('edge', user, own(130))).toBe('OVER_LIMIT 0');
    expect(await all.short('edge', user)).toBe('OVER_LIMIT 0');
    const none = await scene({ ...config, envoy: { chargedAfterwards: 'none' } });
    expect(await none.short('edge', user, own(0))).toBe('OK 100');
    expect(await none.short('edge', user, own(130))).toBe('OVER_LIMIT 0');
    expect(await none.short('edge', user)).toBe('OK 99');
  });
});

describe('headers for clients', () => {
  const perHour = (messages: number) => ({ quota: { publish: { messagesPerSecond: `${messages}/h` } } });
  const config = { keys: { 'edge/user:{id}': perHour(2), 'edge/app:{id}': perDay(100) } };
  const both = [{ app: 'x' }, { user: 'Zoë' }];

  async function headersOf(headers: string) {
    const { ask } = await scene({ ...config, envoy: { headers } });
    return async (of: typeof both | [{ other: string }]) => {
      const { responseHeadersToAdd } = await ask('edge', of as typeof both);
      return Object.fromEntries(responseHeadersToAdd.map(({ key, value }) => [key as string, value as string]));
    };
  }

  test('are none by default', async () => {
    const ask = await headersOf('none');
    expect(await ask(both)).toEqual({});
  });

  test('of IETF are those of HTTP: an item per limited descriptor, in a refusal first what refused', async () => {
    const ask = await headersOf('ietf');
    const user = '"edge/user:Zo~C3~AB-publish-messages"';
    const app = '"edge/app:x-publish-messages"';
    const granted = await ask(both);
    expect(granted['ratelimit-policy']).toBe(`${app};q=100;w=86400, ${user};q=2;w=3600`);
    expect(granted.ratelimit).toMatch(new RegExp(`^${app};r=99(;t=\\d+)?, ${user};r=1(;t=\\d+)?$`));
    expect(granted).not.toHaveProperty('retry-after');
    await ask(both);
    const refused = await ask(both);
    expect(refused['ratelimit-policy']).toBe(`${user};q=2;w=3600, ${app};q=100;w=86400`);
    const [, seconds] = new RegExp(`^${user};r=0;t=(\\d+), ${app};r=98$`).exec(refused.ratelimit ?? '') ?? [];
    expect(seconds).toBe(refused['retry-after']);
    expect(Number(seconds)).toBeGreaterThan(1700);
    expect(await ask([{ other: 'x' }])).toEqual({});
  });

  test('of draft 3 tell what has the least left, as Envoy does', async () => {
    const ask = await headersOf('x-ratelimit');
    expect(await ask(both)).toMatchObject({
      'x-ratelimit-limit': '2, 100;w=86400, 2;w=3600',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
    });
    await ask(both);
    expect(await ask(both)).toMatchObject({
      'x-ratelimit-limit': '2, 2;w=3600, 100;w=86400',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': expect.stringMatching(/^1[78]\d\d$/),
    });
    expect(await ask([{ other: 'x' }])).toEqual({});
  });
});

describe('rules', () => {
  /** One rule per value of the first entry: its flags, and the group of that name. */
  function rulesOf(flags: Readonly<Record<string, Partial<DescriptorRule>>>): DescriptorRules {
    const plain = { at: '', metadata: null, isUnlimited: false, isQuota: false, label: '', replaces: [] };
    return {
      hasDomain: () => true,
      find: (_, [entry]) => {
        const own = flags[entry?.value ?? ''];
        const name = entry?.value ?? '';
        return own === undefined ? null : { ...plain, name, bucketOf: () => name, ...own };
      },
    };
  }

  async function asking(flags: Parameters<typeof rulesOf>[0], groups: object) {
    const { node } = await scene({ groups });
    const rules = rulesOf(flags);
    const service = new RateLimitService({ node, rules, names: rules, domains: domainsOf(rules) });
    const [method] = service.methods;
    return (...values: string[]) => {
      const descriptors = values.map((value) => ({ entries: [{ key: 'k', value }] }));
      const request = RateLimitRequest.encode({ domain: 'd', descriptors }).finish();
      const call = { caller: null, peer: '', leftMs: 1000 };
      const answer = method?.kind === 'unary' ? method.answer(request, call) : new Uint8Array();
      const { overallCode, statuses } = RateLimitResponse.decode(answer as Uint8Array);
      return [nameOf(overallCode), ...statuses.map(({ code }) => nameOf(code))].join(' ');
    };
  }

  test('in quota mode refuse when all of them are spent, or one that is not', async () => {
    const flags = { gpt: { isQuota: true }, llama: { isQuota: true }, user: {} };
    const ask = await asking(flags, { gpt: perDay(1), llama: perDay(2), user: perDay(3) });
    expect(ask('user', 'gpt', 'llama')).toBe('OK OK OK OK');
    expect(ask('user', 'gpt', 'llama')).toBe('OK OK OVER_LIMIT OK');
    // Nothing is charged to the user by the refusal.
    expect(ask('user', 'gpt', 'llama')).toBe('OVER_LIMIT OK OVER_LIMIT OVER_LIMIT');
    expect(ask('user')).toBe('OK OK');
    expect(ask('user')).toBe('OVER_LIMIT OVER_LIMIT');
  });

  test('replace others, and some limit nothing', async () => {
    const flags = { narrow: { replaces: ['wide'] }, wide: { label: 'wide' }, free: { isUnlimited: true } };
    const ask = await asking(flags, { narrow: perDay(2), wide: perDay(1) });
    expect(ask('wide', 'narrow')).toBe('OK OK OK');
    expect(ask('wide', 'narrow')).toBe('OK OK OK');
    expect(ask('wide', 'narrow')).toBe('OVER_LIMIT OK OVER_LIMIT');
    expect(ask('wide')).toBe('OK OK');
    expect(ask('wide', 'free')).toBe('OVER_LIMIT OVER_LIMIT OK');
  });
});

describe('bad input', () => {
  test.each([
    ['no domain', '', [{ user: 'x' }], 'INVALID_ARGUMENT', 'no domain'],
    ['no descriptors', 'edge', [], 'INVALID_ARGUMENT', 'no descriptors'],
    ['many descriptors', 'edge', Array(101).fill({ user: 'x' }), 'RESOURCE_EXHAUSTED', 'list of descriptors'],
    ['a large value', 'edge', [{ user: 'x'.repeat(70_000) }], 'RESOURCE_EXHAUSTED', 'a message'],
  ] as const)('%s', async (_, domain, descriptors, status, reason) => {
    const { tell } = await scene({ keys: { 'edge/user:{id}': perDay(10) } });
    expect(await tell(domain, descriptors)).toMatchObject({
      status: GRPC_STATUS[status],
      text: expect.stringContaining(reason),
    });
  });

  test('bytes that are no message, entries without anything, and long names', async () => {
    const { client, short } = await scene({ keys: { 'edge/user:{id}': perDay(10) } });
    const { status, text } = await client.ask(SHOULD_RATE_LIMIT, Buffer.of(10, 200, 1));
    expect(status).toBe(GRPC_STATUS.INVALID_ARGUMENT);
    expect(text).toContain('no such message');
    expect(await short('edge', [{}])).toMatch(/^OK/);
    expect(await short('edge', [{ '': '' }])).toMatch(/^OK/);
    const long = 'x'.repeat(3000);
    expect(await short('edge', [{ user: long }])).toBe('OK 9');
    expect(await short('edge', [{ user: long }])).toBe('OK 8');
    expect(await short('edge', [{ user: `${long}y` }])).toBe('OK 9');
  });

  test('a node that is not ready is UNAVAILABLE: the gateway decides by its failure mode', async () => {
    const { tell } = await scene({ keys: { 'edge/user:{id}': perDay(10) } }, false);
    for (const descriptors of [[{ user: 'x' }], [{ user: 'x' }, { user: 'y' }]]) {
      expect((await tell('edge', descriptors)).status).toBe(GRPC_STATUS.UNAVAILABLE);
    }
    const looked = { beside: [{ hitsAddend: { value: 0 } }] };
    expect((await tell('edge', [{ user: 'x' }], looked)).status).toBe(GRPC_STATUS.UNAVAILABLE);
  });
});
