import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writtenHash } from '../../../src/base/access/token.js';
import { type CliProcess, CliScene, sendJson } from './cli-process.js';

const NODE = 'cluster: demo\ntopic: { kind: memory }\nhttp: { port: 0 }\n';

async function acquire(node: CliProcess, group: string): Promise<number> {
  return sendJson('POST', `${await node.url()}/v1/acquire`, { group, messages: 1 });
}

async function status(node: CliProcess): Promise<{ readonly degraded: readonly string[] }> {
  return (await (await fetch(`${await node.url()}/v1/nodes`)).json()) as { readonly degraded: readonly string[] };
}

function count(node: CliProcess, message: string): number {
  return node.lines.filter(({ msg }) => msg === message).length;
}

describe('quotamesh run follows its configuration', () => {
  it('edited; with a mistake it stays as it was, and says so once; SIGHUP reads it at once', async ({
    onTestFinished,
  }) => {
    const scene = new CliScene(onTestFinished);
    const folder = scene.folderWith({ 'node.yaml': `${NODE}groups: { a: {} }\n` });
    const file = join(folder, 'node.yaml');
    const node = scene.start(['run', '--config', file]);
    await node.logged('node ready: it reads and writes the topic, and decides');
    expect(await acquire(node, 'b')).toBe(404);
    writeFileSync(file, `${NODE}groups: { a: {}, b: {} }\n`);
    await node.until(async () => (await acquire(node, 'b')) === 200, 'group b');
    writeFileSync(file, `${NODE}groups: { a: {}, b: {}, c: { debtMs: -1 } }\n`);
    const refused = await node.logged('configuration refused, groups stay as they are');
    expect(String(refused.reason)).toContain(`${file}:4:38: groups.c.debtMs must be`);
    expect((await status(node)).degraded).toEqual([
      expect.stringContaining('configuration refused, groups stay as they are'),
    ]);
    node.kill('SIGHUP');
    await node.logged('reading the configuration again');
    writeFileSync(file, `${NODE}timing: { heartbeatMs: 900ms }\ngroups: { a: {}, c: {} }\n`);
    await node.until(async () => (await acquire(node, 'c')) === 200, 'group c');
    expect(await acquire(node, 'b')).toBe(404);
    expect((await status(node)).degraded).toEqual([expect.stringContaining('restart: timing.heartbeatMs')]);
    expect(count(node, 'configuration refused, groups stay as they are')).toBe(1);
    node.kill('SIGTERM');
    expect((await node.exit).code).toBe(0);
  });

  it('mounted as a ConfigMap, swapped by its link', async ({ onTestFinished }) => {
    const scene = new CliScene(onTestFinished);
    const folder = scene.folderWith({});
    const version = (name: string, groups: string) => {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'node.yaml'), NODE);
      writeFileSync(join(folder, name, 'groups.yaml'), groups);
      symlinkSync(name, join(folder, '..data_tmp'));
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    version('..2026_01', 'groups: { a: {} }\n');
    for (const name of ['node.yaml', 'groups.yaml']) symlinkSync(`..data/${name}`, join(folder, name));
    const node = scene.start(['run', '--config', folder]);
    await node.logged('node ready: it reads and writes the topic, and decides');
    expect(await acquire(node, 'b')).toBe(404);
    version('..2026_02', 'groups: { b: {} }\n');
    await node.until(async () => (await acquire(node, 'b')) === 200, 'group b');
    expect(await acquire(node, 'a')).toBe(404);
  });
});

describe('tokens', () => {
  it('follow their file, and one that is taken out is refused', async ({ onTestFinished }) => {
    const scene = new CliScene(onTestFinished);
    const line = (name: string, token: string) =>
      `- { name: ${name}, roles: [admin], hash: "${writtenHash(token)}" }\n`;
    const folder = scene.folderWith({
      'node.yaml': `${NODE}auth: { tokens: { file: tokens.yaml } }\ngroups: { a: {} }\n`,
      'tokens.yaml': line('one', 'qm_one'),
    });
    const node = scene.start(['run', '--config', join(folder, 'node.yaml')]);
    await node.logged('node ready: it reads and writes the topic, and decides');
    const ask = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${await node.url()}/v1/nodes`, { headers })).status;
    };
    expect([await ask('qm_one'), await ask('qm_two')]).toEqual([200, 401]);
    writeFileSync(join(folder, 'tokens.yaml'), line('two', 'qm_two'));
    await node.until(async () => (await ask('qm_two')) === 200, 'the new token');
    expect(await ask('qm_one')).toBe(401);
    writeFileSync(join(folder, 'tokens.yaml'), '- { name: three }\n');
    await node.logged('configuration refused, groups stay as they are');
    expect(await ask('qm_two')).toBe(200);
    node.kill('SIGTERM');
    expect((await node.exit).code).toBe(0);
  });
});
