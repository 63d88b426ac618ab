import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Reservation } from '../../../src/node/api/decision.js';
import type { WholeNode } from '../../whole-node.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

const QUOTA = { publish: { messagesPerSecond: 100 } };
const GROUPS = { a: { quota: QUOTA }, levels: { quota: QUOTA, perClient: QUOTA } };
const PLACES = { acme: 'a', lab: { exempt: true } };

let scene: HttpScene;
beforeAll(async () => {
  scene = await readyScene({ groups: GROUPS, attachments: { scopes: PLACES } });
});
afterAll(() => scene.close());

/** As JavaScript calls it. */
type Loose = Readonly<Record<keyof WholeNode, (...args: unknown[]) => unknown>>;
const ONE = { messages: 1 };
const WAYS = [
  ['tryAcquire', (node: Loose, where, options) => node.tryAcquire(where, ONE, options)],
  ['containsTokens', (node: Loose, where, options) => node.containsTokens(where, ONE, options)],
  ['consume', (node: Loose, where, options) => node.consume(where, ONE, options)],
  ['reserve', (node: Loose, where, options) => node.reserve(where, ONE, options)],
  ['throttleDurationMs', (node: Loose, where, options) => node.throttleDurationMs(where, options)],
  ['acquire', (node: Loose, where, options) => node.acquire(where, ONE, options)],
  ['waitFor', (node: Loose, where, options) => node.waitFor(where, options)],
  ['takeBatch', (node: Loose, where, options) => node.takeBatch(where, ONE, options)],
] as const satisfies readonly (readonly [string, (node: Loose, where: unknown, options: unknown) => unknown])[];

async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return null;
  } catch (error) {
    return error;
  }
}

describe.each(WAYS)('%s with options that are none', (_, ask) => {
  test.each([null, 5, 'dispatch', true, []])(
    '%j: a typed error with a remedy, and nothing is charged',
    async (wrong) => {
      const node = scene.node as unknown as Loose;
      const before = scene.node.limiter.admitted.at(0);
      for (const where of ['a', { tenant: 'acme' }, { tenant: 'lab' }]) {
        expect(await errorOf(() => ask(node, where, wrong)), JSON.stringify(where)).toMatchObject({
          name: 'QuotameshError',
          code: 'FIELD_INVALID',
          remedy: expect.stringMatching(/./),
          message: expect.stringMatching(/^options must be an object like \{ waitMs: 2000 \}, got /),
        });
      }
      expect([scene.node.limiter.admitted.at(0), scene.node.gate.waiting.count]).toEqual([before, 0]);
    },
  );
});

describe.each(WAYS)('%s with an origin that is none', (_, ask) => {
  const wrong = [5, null, true, {}, ['c'], 'x'.repeat(257)];
  const origins = [
    ...wrong.flatMap((name) => [['topic', name] as const, ['client', name] as const]),
    ...['Publish', 0, null].map((direction) => ['direction', direction] as const),
  ];
  test.each(origins)(
    '%s: %.20j: the field is named, whatever is asked, and nothing is charged',
    async (field, value) => {
      const node = scene.node as unknown as Loose;
      const before = scene.node.limiter.admitted.at(0);
      const origin = { [field]: value };
      for (const where of ['a', 'levels', { tenant: 'acme' }, { tenant: 'lab' }]) {
        expect(await errorOf(() => ask(node, where, { waitMs: 0, ...origin })), JSON.stringify(where)).toMatchObject({
          code: 'FIELD_INVALID',
          facts: { field },
        });
      }
      expect([scene.node.limiter.admitted.at(0), scene.node.gate.waiting.count]).toEqual([before, 0]);
    },
  );

  test.each(
    ['tenant', 'namespace', 'topic', 'client'].flatMap((field) => wrong.map((value) => [field, value] as const)),
  )('%s of a scope: %.20j: the field is named', async (field, value) => {
    const error = await errorOf(() => ask(scene.node as unknown as Loose, { [field]: value }, { waitMs: 0 }));
    expect(error).toMatchObject({ code: 'FIELD_INVALID', facts: { field } });
  });
});

test.each(WAYS)('%s of no name is not charged to the default group', async (_, ask) => {
  const { node, close } = await readyScene({ groups: GROUPS, defaultGroup: 'a' });
  onTestFinished(close);
  for (const where of [undefined, null, 5, true, () => 'a', Symbol('a')]) {
    const error = await errorOf(() => ask(node as unknown as Loose, where, { waitMs: 0 }));
    expect(error, String(where)).toMatchObject({ code: 'FIELD_INVALID', facts: { field: 'group' } });
  }
});

describe.each(WAYS)('%s of an object that is no scope', (_, ask) => {
  test.each<[string, unknown]>([
    ['an array of 2', ['a', 'a']],
    ['a promise', Promise.resolve('a')],
    ['a Map', new Map([['tenant', 'acme']])],
    ['a String', new String('a')],
  ])('%s: it would be charged to the default group', async (got, where) => {
    const message = `group must be a name, or a scope { tenant, namespace, topic, client, headers }, got ${got}`;
    const error = await errorOf(() => ask(scene.node as unknown as Loose, where, { waitMs: 0 }));
    expect(error).toMatchObject({ code: 'FIELD_INVALID', facts: { field: 'group' }, message });
  });
});

test.each(WAYS.filter(([way]) => ['acquire', 'waitFor', 'takeBatch'].includes(way)))(
  '%s with a signal that is none',
  async (_, ask) => {
    const node = scene.node as unknown as Loose;
    for (const signal of [5, null, {}, 'stop']) {
      expect(await errorOf(() => ask(node, 'a', { waitMs: 10, signal }))).toMatchObject({
        code: 'FIELD_INVALID',
        message: 'signal must be an AbortSignal',
      });
    }
  },
);

test('a commit of nothing is told, of exempt work as well', () => {
  for (const where of ['a', { tenant: 'lab' }]) {
    const reserved = scene.node.reserve(where, ONE) as Reservation;
    const commit = reserved.commit as (actual?: unknown) => void;
    for (const wrong of [undefined, null, 7]) {
      expect(() => commit(wrong)).toThrow(expect.objectContaining({ code: 'AMOUNT_INVALID' }));
    }
    expect(() => commit({ messages: -1 })).toThrow(expect.objectContaining({ code: 'AMOUNT_INVALID' }));
    commit({});
  }
});

test('costs with options that are none', () => {
  const report = (options: unknown) => () => scene.node.reportCost('a', { units: 1 }, options as never);
  for (const wrong of [null, 5]) expect(report(wrong)).toThrow(expect.objectContaining({ code: 'COST_INVALID' }));
});
