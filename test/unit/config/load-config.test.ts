import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/files/load-config.js';
import { partOf } from '../../property/seed.js';
import { testFolder } from './test-folder.js';

const folder = testFolder();

const GROUPS = 'groups: { orders: {} }\n';

describe('a file that cannot be read', () => {
  test.each([
    ['absent', 'absent.yaml', 'there is no such file'],
    ['a folder without any', 'folder', 'the folder has no file that ends in .yaml or .yml'],
    ['too large', 'large.yaml', 'at most 8388608 are read'],
    ['binary', 'binary.yaml', 'it is not UTF-8 text'],
  ])('because it is %s says so', async (_, name, reason) => {
    mkdirSync(join(folder, 'folder'), { recursive: true });
    writeFileSync(join(folder, 'large.yaml'), Buffer.alloc(8 * 1024 * 1024 + 1, 'a'));
    writeFileSync(join(folder, 'binary.yaml'), Buffer.from([0xff, 0xfe, 0xfd]));
    const failure = loadConfig({ file: join(folder, name) });
    await expect(failure).rejects.toMatchObject({ code: 'CONFIG_UNREADABLE', exitCode: 78 });
    await expect(failure).rejects.toThrow(reason);
  });
});

describe('a good file', () => {
  test('of very many groups is read', { timeout: 60_000 }, async () => {
    const count = partOf(3000);
    const group = (index: number) => `  group-${index}: { quota: { publish: { messagesPerSecond: ${index} } } }`;
    const file = join(folder, 'many.yaml');
    writeFileSync(file, `cluster: demo\ngroups:\n${Array.from({ length: count }, (_, at) => group(at)).join('\n')}\n`);
    const config = await loadConfig({ file });
    expect(config.groups).toHaveLength(count);
    expect(config.groups[count - 1]?.quota.publish).toEqual([count - 1, Infinity]);
  });

  test.each(['node.yaml', 'node-kafka.yaml'])('examples/%s has no mistakes', async (name) => {
    const file = new URL(`../../../examples/${name}`, import.meta.url).pathname;
    const config = await loadConfig({ file, env: {} });
    expect(config.groups).toHaveLength(2);
  });

  test('the folder of the topic and secret files are found beside it', async () => {
    const file = join(folder, 'secret.yaml');
    writeFileSync(join(folder, 'password'), 's3cret\n');
    writeFileSync(
      file,
      `cluster: demo
topic: { kind: kafka, brokers: "a:1, b:2", sasl: { mechanism: plain, username: u, password: { file: password } } }
${GROUPS}`,
    );
    const config = await loadConfig({ file });
    expect(config.topic).toMatchObject({
      brokers: ['a:1', 'b:2'],
      sasl: { mechanism: 'plain', username: 'u', password: 's3cret' },
      tls: false,
    });
    writeFileSync(file, `cluster: demo\n${GROUPS}`);
    expect((await loadConfig({ file })).topic).toMatchObject({ kind: 'embedded', path: join(folder, 'state') });
  });
});
