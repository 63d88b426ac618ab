import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CliScene, sendJson } from './cli-process.js';
import { nodeInProcess } from './node-in-process.js';
import { runInProcess } from './run-in-process.js';

const NODE = `cluster: demo
node: a
topic: { kind: memory }
http: { port: 0 }
keys: { "user:{id}": { quota: { publish: { messagesPerSecond: 60/min } } } }
`;

it('templates and single keys are set, listed, printed and deleted', async ({ onTestFinished }) => {
  const scene = new CliScene(onTestFinished);
  const url = await nodeInProcess(NODE, onTestFinished);
  const checked = await runInProcess(['check', join(scene.folderWith({ 'node.yaml': NODE }), 'node.yaml')]);
  expect(checked.stdout).toMatch(/valid; cluster demo, 0 groups, 1 pattern of keys\n$/);
  const silent = await runInProcess(['explain', 'user:nobody', '--url', url]);
  expect(silent).toMatchObject({ code: 2, stderr: expect.stringMatching(/^quotamesh: key user:nobody is silent/) });
  const unknown = await runInProcess(['explain', 'kez:x', '--url', url]);
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/a key needs a template with a pattern for its name/),
  });
  await sendJson('POST', `${url}/v1/acquire`, { key: 'user:seen', messages: 1 });
  const seen = await runInProcess(['key', 'show', 'user:seen', '--url', url]);
  // No rate that is not limited, and no reservation of nothing.
  expect(seen).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^user:seen {2}template user:\{id\}\npublish {2}quota messagesPerSecond 60\/min\n {2}(silent|loud)/,
    ),
  });
  expect(seen.stdout).not.toMatch(/reserved|null|dispatch/);
  const key = async (...args: string[]) => await runInProcess(['key', ...args, '--url', url]);
  const made = await key('template', 'set', 'key:{id}', 'quota.publish.messagesPerSecond=600/min');
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^key:\{id\}: revision \d+\n$/) });
  const changed = await key('template', 'set', 'key:{id}', 'burst=10', '--json');
  expect(JSON.parse(changed.stdout).definition).toEqual({
    quota: { publish: { messagesPerSecond: '600/min' } },
    burst: 10,
  });
  expect((await key('template', 'set', 'key:{id}', 'burst=null', '--dry-run')).stdout).toBe(`nothing is changed:
  key:{id}:
    before:
      quota:
        publish:
          messagesPerSecond: 600/min
      burst: 10
    after:
      quota:
        publish:
          messagesPerSecond: 600/min
`);
  const dry = await key('template', 'delete', 'key:{id}', '--dry-run', '--json');
  expect(JSON.parse(dry.stdout)).toMatchObject({ dryRun: true, before: { burst: 10 }, after: null });
  expect(await key('set', 'key:acme', 'quota.publish.messagesPerSecond=6k/min')).toMatchObject({ code: 0 });
  const list = (await key('template', 'list')).stdout.split('\n').map((line) => line.split(/ +/).slice(0, 3));
  expect(list.slice(1, 4)).toEqual([
    ['key:{id}', 'template', 'run-time'],
    ['user:{id}', 'template', 'yaml'],
    ['key:acme', 'key', 'run-time'],
  ]);
  expect((await key('get', 'key:acme')).stdout).toBe(
    'key:acme:\n  quota:\n    publish:\n      messagesPerSecond: 6k/min\n',
  );
  const copy = join(scene.folderWith({}), 'keys.json');
  await writeFile(copy, (await key('template', 'list', '--json')).stdout);
  expect((await key('apply', '-f', copy)).stdout).toBe('templates and keys: 0 of 2 changed\n');
  await key('set', 'key:acme', 'quota.publish.messagesPerSecond=5/min');
  const would =
    'key key:acme\n  - quota.publish.messagesPerSecond: "5/min"\n  + quota.publish.messagesPerSecond: "6k/min"\n';
  expect((await key('apply', '-f', copy, '--dry-run')).stdout).toBe(
    `${would}templates and keys: 1 of 2 would change (nothing is changed)\n`,
  );
  const applied = await key('apply', '-f', copy, '--json');
  const changes = [{ kind: 'key', name: 'key:acme' }];
  expect(JSON.parse(applied.stdout)).toEqual({ dryRun: false, applied: 1, unchanged: 1, changes });
  await writeFile(copy, '{"definitions":[{"kind":"key"}]}');
  const unread = await key('apply', '-f', copy);
  expect(unread).toMatchObject({ code: 78, stderr: expect.stringMatching(/keys\.json.*GET \/v1\/key-templates/) });
  expect(await key('template', 'set', 'user:{x}', 'burst=1')).toMatchObject({ code: 78 });
  expect(await key('template', 'set', 'key:{id}', 'burst=2', '--if-revision', '1')).toMatchObject({ code: 78 });
  expect(await key('template', 'get', 'kay:{id}')).toMatchObject({ code: 2 });
  const nobody = await key('show', 'key:nobody');
  expect(nobody).toMatchObject({ code: 0, stdout: expect.stringMatching(/ {2}not used at this node\n/) });
  const unnamed = await key('show', 'acme');
  expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringMatching(/named acme; .*key:acme.* would be one/) });
  const requests = Array(200).fill({ key: 'user:hot', messages: 1 });
  await sendJson('POST', `${url}/v1/acquire/bulk`, { requests });
  // A report behind its use.
  await expect
    .poll(async () => (await key('show', 'user:hot')).stdout, { timeout: 20_000 })
    .toMatch(/loud: the cluster's bucket holds -?\d+ messages of 60\n {2}node a \*: \d/);
  const status = await runInProcess(['status', '--url', url]);
  expect(status.stdout).toMatch(/\nuser:hot +publish msg/);
  expect(status.stdout).toMatch(/\nKEYS HERE +LIVE +LOUD +GRANTED UNPUBLISHED +OVER QUOTA +NO ROOM\n/);
  expect(status.stdout).toMatch(/\nuser:\{id\} +\d+ +[12] +\d+ +1\d\d +0\n/);
  const top = await runInProcess(['top', '--once', '--url', url]);
  expect(top.stdout).toMatch(/\nuser:hot +publish msg/);
  expect(await key('delete', 'key:acme')).toMatchObject({ code: 0, stdout: 'key:acme: deleted\n' });
  expect(await key('template', 'delete', 'key:{id}')).toMatchObject({ code: 0 });
  expect(await key('template', 'delete', 'user:{id}')).toMatchObject({ code: 78 });
}, 120_000);
