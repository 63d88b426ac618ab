import { expect, test, vi } from 'vitest';
import { explanationText } from '../../../src/tools/cli/look/explanation-text.js';
import { readyScene } from '../http/http-scene.js';

test('explain counts what the reasons below it count, refusals of clients too', async () => {
  const perClient = { publish: { messagesPerSecond: 0 } };
  const scene = await readyScene({ groups: { one: { quota: { publish: { messagesPerSecond: 1000 } }, perClient } } });
  for (let time = 0; time < 2; time++) await scene.acquire({ group: 'one', client: 'c', messages: 1 });
  const text = explanationText(scene.node.explain('one'));
  expect(text).toMatch(/^ +because .*own limit binds \(2 times/m);
  expect(text).toMatch(/^ +refused +2 times/m);
  await scene.close();
});

test('while the node is isolated, no group looks linked, used or not', async () => {
  const scene = await readyScene();
  const { link } = scene.node.coordinator!;
  const linkOf = () => scene.node.groupStatus('orders').directions.publish.local.link;
  expect(linkOf()).toBe('linked');
  vi.spyOn(link, 'isolatedPartitions', 'get').mockReturnValue([0]);
  const silent = vi.spyOn(link, 'silentMs').mockReturnValue(4000);
  expect(linkOf()).toBe('held');
  silent.mockReturnValue(11_000);
  expect(linkOf()).toBe('fallback');
  vi.restoreAllMocks();
  await scene.close();
});

test('whole amounts are printed as they are, others without a rounded whole part', async () => {
  const publish = { messagesPerSecond: 1234.5678, bytesPerSecond: '1MiB' };
  const scene = await readyScene({ groups: { one: { quota: { publish } } } });
  const [quota = ''] = /^ +quota .*$/m.exec(explanationText(scene.node.explain('one'))) ?? [];
  expect(quota).toContain('1235 messages/s, 1048576 bytes/s');
  await scene.close();
});
