import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type HttpScene, readyScene } from './http-scene.js';

let scene: HttpScene;
beforeAll(async () => {
  scene = await readyScene({
    groups: {},
    keys: { 'key:{id}': { quota: { publish: { messagesPerSecond: '60/min' } } } },
  });
});
afterAll(() => scene.close());

it('a key is acquired by the name of its group, with its own fields, and shown while it is silent and loud', async () => {
  expect(await scene.get('/v1/keys/alice')).toMatchObject({
    status: 404,
    body: { code: 'KEY_UNKNOWN', detail: 'no template has keys named alice; key:alice would be one' },
  });
  expect(await scene.get('/v1/keys/key:alice')).toMatchObject({ status: 200, body: { used: false, silent: true } });
  expect(await scene.get('/v1/keys')).toMatchObject({ status: 200, body: { keys: [] } });
  expect(await scene.get('/v1/groups/key:alice')).toMatchObject({ status: 404, body: { code: 'KEY_SILENT' } });
  const answers = [await scene.acquire({ group: 'key:alice', messages: 1 })];
  const key = { key: 'key:alice', template: 'key:{id}', quota: { publish: { messagesPerSecond: '60/min' } } };
  if (answers[0]?.status === 200) {
    expect(answers[0].headers).toMatchObject({ 'ratelimit-policy': '"key:alice-publish-messages";q=60;w=60' });
    expect(await scene.get('/v1/keys/key:alice')).toMatchObject({ body: { ...key, silent: true, group: null } });
  }
  for (let asked = 0; asked < 61; asked++) answers.push(await scene.acquire({ group: 'key:alice', messages: 1 }));
  expect(answers.at(-1)).toMatchObject({ status: 429, body: { group: 'key:alice' } });
  expect(await scene.get('/v1/keys/key:alice')).toMatchObject({
    status: 200,
    body: { ...key, used: true, silent: false, leftUnpublished: null, group: { group: 'key:alice' } },
  });
  // What a node wants of a key is counted by rounds.
  const shown = { body: { keys: [{ key: 'key:alice' }] } };
  await vi.waitFor(async () => expect(await scene.get('/v1/keys')).toMatchObject(shown), { timeout: 5000 });
  const nodes = await scene.get('/v1/nodes');
  const overQuota = answers.filter(({ status }) => status === 429).length;
  expect(nodes.body.keys).toMatchObject([{ template: 'key:{id}', loud: 1, overQuota, refused: 0 }]);
  expect(await scene.acquire({ group: 'kay:alice', messages: 1 })).toMatchObject({ body: { code: 'GROUP_UNKNOWN' } });
});
