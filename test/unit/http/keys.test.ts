import { afterAll, beforeAll, expect, it } from 'vitest';
import { type HttpScene, readyScene } from './http-scene.js';

let scene: HttpScene;
beforeAll(async () => {
  scene = await readyScene({ groups: {}, keys: { 'key:{id}': { quota: { publish: { messagesPerMinute: 60 } } } } });
});
afterAll(() => scene.close());

it('a key is acquired by the name of its group, with its own fields, and shown while it is silent and loud', async () => {
  expect(await scene.get('/v1/keys/key:alice')).toMatchObject({ status: 404, body: { code: 'KEY_UNKNOWN' } });
  expect(await scene.get('/v1/groups/key:alice')).toMatchObject({ status: 404, body: { code: 'KEY_SILENT' } });
  const answers = [await scene.acquire({ group: 'key:alice', messages: 1 })];
  const key = { key: 'key:alice', template: 'key:{id}', quota: { publish: { messagesPerMinute: 60 } } };
  if (answers[0]?.status === 200) {
    expect(answers[0].headers).toMatchObject({ 'ratelimit-policy': '"key:alice-publish-messages";q=60;w=60' });
    expect(await scene.get('/v1/keys/key:alice')).toMatchObject({ body: { ...key, silent: true, group: null } });
  }
  for (let asked = 0; asked < 61; asked++) answers.push(await scene.acquire({ group: 'key:alice', messages: 1 }));
  expect(answers.at(-1)).toMatchObject({ status: 429, body: { group: 'key:alice' } });
  expect(await scene.get('/v1/keys/key:alice')).toMatchObject({
    status: 200,
    body: { ...key, silent: false, leftUnheard: null, group: { group: 'key:alice' } },
  });
  expect(await scene.acquire({ group: 'kay:alice', messages: 1 })).toMatchObject({ body: { code: 'GROUP_UNKNOWN' } });
});
