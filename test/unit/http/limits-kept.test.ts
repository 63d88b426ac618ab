import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';
import { runs } from '../../property/seed.js';
import { type HttpScene, readyScene } from './http-scene.js';

/** A mistake never takes a limit away: only who says so in so many words does. */
const YAML = `cluster: demo
limits: { publish: { messagesPerSecond: 9000 } }
attachments:
  scopes: { acme: orders }
  rules: [{ tenant: other, group: orders }]
mqtt:
  connectsPerSecond: 7
  subscribesPerSecond: 5
  rules: [{ topic: "#", group: orders }]
groups:
  orders:
    quota:
      publish:
        messagesPerSecond: 1000
        costPerSecond: 50
    perTopic: { publish: { messagesPerSecond: 10 } }
    perClient: { publish: { messagesPerSecond: 11 } }
    ramp: { fromPerSecond: 10, toPerSecond: 20, overMs: 1s }
`;

/** Blank, and what is no rate. `null` and `~` are words, and stand in the documents. */
const WRONG_RATES = [
  '',
  '-5',
  '-1',
  '.inf',
  '-.inf',
  '.nan',
  '1e400',
  'Infinity',
  'NaN',
  '"Infinity"',
  '"-5"',
  '""',
  '[]',
];
const RATES = [...YAML.matchAll(/(\w+PerSecond): (\d+)/g)].map(({ index, 0: pair, 1: key }) => ({ index, pair, key }));

describe('in YAML', () => {
  it('the configuration is valid as it stands', () => {
    expect(mistakesOf(YAML)).toEqual([]);
  });

  it.each(RATES.flatMap((rate) => WRONG_RATES.map((wrong) => ({ ...rate, wrong }))))(
    '$pair → "$wrong" is a mistake',
    ({ index, pair, key, wrong }) => {
      const text = `${YAML.slice(0, index)}${key}: ${wrong}${YAML.slice(index + pair.length)}`;
      expect(mistakesOf(text).length).toBeGreaterThan(0);
    },
  );

  it.each(['messagesPerSec: 1000', 'messages_per_second: 1000', 'MessagesPerSecond: 1000', 'rate: 1000'])(
    'a misspelt key is a mistake: %s',
    (key) => {
      expect(mistakesOf(YAML.replace('messagesPerSecond: 1000', key)).length).toBeGreaterThan(0);
    },
  );

  it('-0 blocks, as 0 does', () => {
    expect(quotaOf(YAML.replace('messagesPerSecond: 1000', 'messagesPerSecond: -0'))).toBe(0);
  });

  // What else a file that is cut at the end of a line no longer has is told when it is read again (test/unit/runtime/reload/yaml-groups.test.ts).
  it('a file that ends too early is a mistake, or the message quota of its group is what it was, or less', () => {
    fc.assert(
      fc.property(fc.nat(YAML.length - 1), (length) => {
        const text = YAML.slice(0, length);
        if (mistakesOf(text).length > 0) return;
        expect(quotaOf(text)).toBeLessThanOrEqual(1000);
      }),
      runs(500),
    );
  });

  it('with every way to write one line wrongly the quota is what it was, less, or a mistake', () => {
    const junk = fc.oneof(
      fc.constantFrom(...WRONG_RATES, '{}', 'true', '- 1', '1000x', '!!null', '&a', '*a'),
      fc.string(),
    );
    fc.assert(
      fc.property(junk, (wrong) => {
        fc.pre(!/^\s*(null|Null|NULL|~)?\s*(#.*)?$/.test(wrong) || wrong.trim() === '');
        const text = YAML.replace('messagesPerSecond: 1000', `messagesPerSecond: ${wrong}`);
        if (mistakesOf(text).length === 0) expect(quotaOf(text)).toBeLessThan(Infinity);
      }),
      runs(500),
    );
  });

  it('null in so many words takes it away', () => {
    expect(quotaOf(YAML.replace('messagesPerSecond: 1000', 'messagesPerSecond: null'))).toBe(Infinity);
  });
});

describe('over HTTP', () => {
  let scene: HttpScene;
  const rate = async (group: string) => {
    const { body } = await scene.get(`/v1/groups/${group}`);
    const directions = body.directions as { publish: { quota: { messagesPerSecond: number | null } } };
    return directions.publish.quota.messagesPerSecond;
  };
  beforeAll(async () => {
    scene = await readyScene();
  });
  afterAll(() => scene.close());

  const bad = [-5, -2, -1.5, 0.5, '5', '', true, [], {}, 1e300];
  const names = ['publishRateInMsgs', 'publishratelimitinmsgs', 'PublishRateInMsgs'];
  it.each(
    ['resourcegroup', 'resourcegroups'].flatMap((path) =>
      names.flatMap((name) => bad.map((value) => [path, name, value] as const)),
    ),
  )('PUT /admin/v2/%s {%s: %j} is refused, and changes nothing', async (path, name, value) => {
    for (const group of ['orders', 'not-there']) {
      const answer = await scene.ask('PUT', `/admin/v2/${path}/${group}`, { [name]: value });
      expect(answer).toMatchObject({ status: 422, body: { reason: expect.any(String) } });
      expect(['FIELD_INVALID', 'GROUP_INVALID']).toContain(answer.body.code);
    }
    expect(await rate('orders')).toBe(1000);
    expect((await scene.get('/v1/groups/not-there')).status).toBe(404);
  });

  const wrong = [-1, -5, 'Infinity', 'unlimitd', '', '-1', true, [], {}, 1e300];
  it.each(
    (['PUT', 'PATCH'] as const).flatMap((method) => [
      ...wrong.map((value) => [method, { quota: { publish: { messagesPerSecond: value } } }] as const),
      [method, { quota: '' }] as const,
      [method, { quota: [] }] as const,
      [method, { quota: { publish: 0 } }] as const,
      [method, { enabled: 'no' }] as const,
    ]),
  )('%s /v1/groups/orders %j is refused, and changes nothing', async (method, payload) => {
    const answer = await scene.ask(method, '/v1/groups/orders', payload);
    expect(answer).toMatchObject({ status: 422, body: { code: expect.stringMatching(/^(GROUP|QUOTA)_/) } });
    expect(await rate('orders')).toBe(1000);
  });

  it.each([{}, { debtMs: '1s' }, { strategy: 'equal' }])('PUT %j forgets the quota', async (payload) => {
    for (const url of ['/v1/groups/orders', '/v1/groups/orders?dryRun=true']) {
      const answer = await scene.ask('PUT', url, payload);
      expect(answer).toMatchObject({ status: 422, body: { code: 'GROUP_INVALID' } });
      expect(answer.body.detail).toContain('quota: null');
    }
    expect(await rate('orders')).toBe(1000);
  });

  it.each([
    [{ quota: { publish: { messagesPerSecond: 5 } } }, 'quota.publish.bytesPerSecond: null, quota.dispatch: null'],
    [
      { quota: { publish: {}, dispatch: null } },
      'quota.publish.messagesPerSecond: null, quota.publish.bytesPerSecond: null',
    ],
    [{ quota: null }, 'perTopic: null, ramp: null'],
    [{ quota: null, perTopic: { dispatch: { messagesPerSecond: 1 } }, ramp: null }, 'perTopic.publish: null'],
  ])('PUT %j forgets one of several limits', async (payload, missing) => {
    const rates = { messagesPerSecond: 1000, bytesPerSecond: 5000 };
    const ramp = { fromPerSecond: 2, toPerSecond: 10, overMs: '1s' };
    const whole = { quota: { publish: rates, dispatch: { costPerSecond: 7 } } };
    const levels = { perTopic: { publish: { messagesPerSecond: 10 } }, ramp };
    const url = '/v1/groups/several';
    const put = (body: object) => scene.ask('PUT', url, body);
    await put({ ...whole, ...levels });
    const before = await scene.get(`${url}/definition`);
    const answer = await put({ ...('quota' in payload && payload.quota !== null ? levels : {}), ...payload });
    expect(answer).toMatchObject({ status: 422, body: { code: 'GROUP_INVALID' } });
    expect(answer.body.detail).toContain(missing);
    expect((await scene.get(`${url}/definition`)).body).toEqual(before.body);
    expect((await put({ ...payload, quota: null, perTopic: null, ramp: null })).status).toBe(200);
  });

  it('who says it in so many words takes it away', async () => {
    expect((await scene.ask('PUT', '/admin/v2/resourcegroups/orders', { publishRateInMsgs: -1 })).status).toBe(204);
    expect(await rate('orders')).toBeNull();
    const quota = { publish: { messagesPerSecond: 5, bytesPerSecond: null }, dispatch: null };
    expect((await scene.ask('PUT', '/v1/groups/orders', { quota })).status).toBe(200);
    expect((await scene.ask('PUT', '/v1/groups/orders', { quota: null })).status).toBe(200);
    expect(await rate('orders')).toBeNull();
    await scene.ask('PUT', '/v1/groups/orders', { quota });
    expect((await scene.ask('PATCH', '/v1/groups/orders', { quota: { publish: null } })).status).toBe(200);
    expect(await rate('orders')).toBeNull();
  });
});

function mistakesOf(text: string): string[] {
  const { raw, locate, mistakes } = parseYaml(text);
  const examined = examineConfig(raw, { source: 'node.yaml', folder: '/', locate });
  return [...mistakes, ...examined.mistakes].map(({ path, problem }) => `${[path].flat().join('.')} ${problem}`);
}

/** Quota of group orders; without the group nothing is admitted. */
function quotaOf(text: string): number {
  const { raw, locate } = parseYaml(text);
  const { config } = examineConfig(raw, { source: 'node.yaml', folder: '/', locate });
  return config?.groups.find(({ name }) => name === 'orders')?.quota.publish[0] ?? 0;
}
