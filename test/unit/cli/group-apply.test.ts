import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CliScene, ONE_GROUP } from './cli-process.js';
import { nodeInProcess } from './node-in-process.js';
import { runInProcess } from './run-in-process.js';

const GOLD = 'groups: { gold: { quota: { publish: { messagesPerSecond: 600/min } } } }\n';
const SILVER = 'groups: { silver: { quota: { publish: { messagesPerSecond: 60/min } } }, bare: {} }\n';

describe('quotamesh group apply', () => {
  it('shows a diff, changes what differs, and nothing the second time', async () => {
    const { scene, quotamesh } = await started();
    const folder = scene.folderWith({ 'gold.yaml': GOLD, 'silver.yaml': SILVER });
    const diff = await quotamesh('apply', '-f', folder, '--dry-run');
    expect(diff).toMatchObject({ code: 0, stderr: '' });
    expect(diff.stdout).toBe(
      `gold (new)
  + quota.publish.messagesPerSecond: "600/min"
silver (new)
  + quota.publish.messagesPerSecond: "60/min"
bare (new)
  + (no settings of its own)
groups: 3 of 3 would change (nothing is changed)
`,
    );
    expect((await quotamesh('list')).stdout).not.toContain('gold');
    const empty = join(scene.folderWith({ 'empty.yaml': 'groups: {}\n' }), 'empty.yaml');
    const nothing = await quotamesh('apply', '-f', empty, '--yes');
    expect(nothing).toMatchObject({ code: 0, stdout: `${empty} names no group: nothing is changed\n` });
    const unasked = await quotamesh('apply', '-f', folder);
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('without a terminal say --yes') });
    expect((await quotamesh('apply', '-f', folder, '--yes')).stdout).toMatch(/\ngroups: 3 of 3 changed\n$/);
    expect((await quotamesh('list')).stdout).toMatch(/^gold +600\/min/m);
    writeFileSync(join(folder, 'gold.yaml'), GOLD.replace('messagesPerSecond: 600/min', 'messagesPerSecond: 20'));
    const again = await quotamesh('apply', '-f', folder, '--yes');
    expect(again.stdout).toBe(
      `gold
  - quota.publish.messagesPerSecond: "600/min"
  + quota.publish.messagesPerSecond: 20
groups: 1 of 3 changed
`,
    );
    const json = JSON.parse((await quotamesh('apply', '-f', folder, '--yes', '--json')).stdout);
    expect(json).toEqual({ dryRun: false, applied: 0, unchanged: 3, changes: [], attached: 0, attachments: [] });
  });

  it('puts back what `group export` has written, with what is attached', async () => {
    const [old, empty] = [await started(), await started()];
    const folder = old.scene.folderWith({ 'gold.yaml': GOLD });
    await old.quotamesh('apply', '-f', folder, '--yes');
    await old.quotamesh('attach', '--same-as', 'zebra', '--tenant', 'acme', '--namespace', 'a');
    expect((await old.quotamesh('attach', 'gold', '--tenant', 'zebra')).code).toBe(0);
    await old.quotamesh('attach', '--same-as', 'zebra', '--tenant', 'acme', '--namespace', 'a');
    const copy = (await old.quotamesh('export')).stdout;
    writeFileSync(join(folder, 'gold.yaml'), copy);
    const shown = await empty.quotamesh('apply', '-f', folder, '--dry-run');
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toContain('attachment of acme/a (new)\n  + sameAs: "zebra"\n');
    const done = await empty.quotamesh('apply', '-f', folder, '--yes');
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout).toMatch(/\ngroups: 1 of 1 changed\nattachments: 2 of 2 changed\n$/);
    expect((await empty.quotamesh('export')).stdout).toBe(copy);
    expect((await empty.quotamesh('apply', '-f', folder, '--yes')).stdout).toBe(
      'groups: 0 of 1 changed\nattachments: 0 of 2 changed\n',
    );
    writeFileSync(join(folder, 'gold.yaml'), `${GOLD}attachments: { scopes: { zebra: { exempt: true } } }\n`);
    expect((await empty.quotamesh('apply', '-f', folder, '--yes')).stdout).toContain(
      'attachment of zebra\n  + exempt: true\n  - group: "gold"\n',
    );
  });

  it('changes nothing at all where one group is wrong', async () => {
    const { scene, quotamesh } = await started();
    const folder = scene.folderWith({ 'gold.yaml': GOLD, 'wrong.yaml': 'groups: { wrong: { debtMs: -1 } }\n' });
    const refused = await quotamesh('apply', '-f', folder, '--yes');
    expect(refused).toMatchObject({ code: 78, stdout: '', stderr: expect.stringContaining('wrong') });
    // A limit that is only forgotten is refused, too.
    writeFileSync(join(folder, 'wrong.yaml'), 'groups: { orders: {} }\n');
    expect(await quotamesh('apply', '-f', folder, '--yes')).toMatchObject({ code: 78, stdout: '' });
    expect((await quotamesh('list')).stdout).not.toContain('gold');
  });

  it.each([
    ['no file', 'missing.yaml', 'cannot read'],
    ['no groups', 'empty.yaml', 'it must be a mapping with the key groups'],
    ['other keys', 'others.yaml', 'only groups and attachments.scopes are applied, and it also has cluster'],
    ['rules', 'rules.yaml', 'and it also has attachments.rules'],
    ['a key twice', 'twice.yaml', 'twice.yaml:'],
  ])('%s is told before a node is asked', async (_, file, told) => {
    const scene = new CliScene(onTestFinished);
    const folder = scene.folderWith({
      'empty.yaml': 'cluster: demo\n',
      'others.yaml': 'cluster: demo\ngroups: {}\n',
      'rules.yaml': 'groups: {}\nattachments: { rules: [] }\n',
      'twice.yaml': 'groups: { a: {}, a: {} }\n',
    });
    const exit = await runInProcess(['group', 'apply', '-f', join(folder, file), '--url', 'http://127.0.0.1:9']);
    expect(exit).toMatchObject({ code: 78, stderr: expect.stringContaining(told) });
  });
});

async function started() {
  const scene = new CliScene(onTestFinished);
  const url = await nodeInProcess(ONE_GROUP, onTestFinished);
  const quotamesh = async (...args: string[]) => await runInProcess(['group', ...args, '--url', url]);
  return { scene, quotamesh };
}
