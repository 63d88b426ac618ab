import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { COMMAND_FILE } from '../../../src/base/package/package-root.js';
import { CliScene, ONE_GROUP, sendJson } from './cli-process.js';
import { nodeInProcess } from './node-in-process.js';
import { runInProcess } from './run-in-process.js';

describe('commands for those who run a cluster', () => {
  it('top, nodes and --dry-run against a node', async ({ onTestFinished }) => {
    const scene = new CliScene(onTestFinished);
    const url = await nodeInProcess(ONE_GROUP, onTestFinished);
    const quotamesh = async (...args: string[]) => await runInProcess([...args, '--url', url]);
    const idle = await quotamesh('top', '--count', '1');
    expect(idle).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Z no node reports use of a group or a key\n$/),
    });
    // `top | head`: the reader goes, and only who writes learns of it.
    const piped = scene.start(['top', '--every', '0.1', '--url', url]);
    await piped.until(() => piped.stdout !== '', 'a line of top');
    piped.closeStdout();
    expect(await piped.exit).toMatchObject({ code: 0, stderr: '' });
    const load = setInterval(() => {
      for (let time = 0; time < 10; time++) void acquire(url);
    }, 50);
    onTestFinished(() => clearInterval(load));
    await expect
      .poll(async () => (await quotamesh('top', '--count', '1')).stdout, { timeout: 20_000 })
      .toMatch(/orders publish .* throttled=[1-9]/);
    const top = await quotamesh('top', '--count', '1');
    expect(top.stdout).toMatch(
      /^\S+Z orders publish messages usage=[\d.]+ demand=[\d.]+ of=50 throttled=[\d.]+ tokens=\S+ .*worst=a\n$/,
    );
    const json = JSON.parse((await quotamesh('top', '--count', '1', '--json')).stdout);
    expect(json.groups).toMatchObject([{ group: 'orders', target: 50, worstNode: 'a' }]);
    expect((await quotamesh('nodes')).stdout).toMatch(/^NODE +STATE.*\na \* +alive /);
    const preview = await quotamesh('group', 'set', 'orders', 'quota.publish.messagesPerSecond=2k', '--dry-run');
    expect(preview.stdout).toContain('orders: nothing is changed, this would be');
    expect(preview.stdout).toMatch(/publish msg\/s +a +[\d,.]+ +50 +2,000\n/);
    const got = await quotamesh('group', 'get', 'orders', '--json');
    expect(JSON.parse(got.stdout)).toMatchObject({ origin: 'yaml', revision: 0 });
    for (const misspelled of [['explain'], ['group', 'get'], ['status', '--group']]) {
      expect(await quotamesh(...misspelled, 'ordes')).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/did you mean orders\?[\s\S]*Use a configured group/),
      });
    }
    const gone = await quotamesh('group', 'delete', 'orders', '--dry-run');
    expect(gone).toMatchObject({ code: 78, stderr: expect.stringContaining('cannot be deleted at run time') });
  });

  it('a quota per minute is shown per minute', async ({ onTestFinished }) => {
    const url = await nodeInProcess(ONE_GROUP, onTestFinished);
    const told = async (...args: string[]) => (await runInProcess([...args, '--url', url])).stdout;
    expect(await told('group', 'set', 'alerts', 'quota.publish.messagesPerSecond=5/min')).toMatch(
      /^alerts: revision \d+\n$/,
    );
    expect(await told('group', 'get', 'alerts')).toContain('messagesPerSecond: 5/min\n');
    expect(await told('group', 'list')).toMatch(/^alerts +5\/min +– +– +– /m);
    expect(await told('status', '--group', 'alerts')).toMatch(/^alerts +publish msg\/min +a +0\/s +0\/s +5 /m);
    expect(await told('explain', 'alerts')).toMatch(/^ {2}quota +5 messages\/min, unlimited bytes, /m);
    expect(await told('quota', 'set', 'alerts', 'total_throughput', '10MiB/min')).toMatch(
      /^alerts: total_throughput 10485760 bytes\/min, 2560 cost units\/min, revision \d+\n$/,
    );
    expect(await told('quota', 'get', 'alerts', 'total_throughput')).toBe('total_throughput 10485760/min\n');
    await told('quota', 'clear', 'alerts', 'total_throughput');
    expect(await told('quota', 'get', 'alerts', 'total_throughput')).toBe('total_throughput <empty>\n');
    const change = 'quota.publish.messagesPerSecond "5/min" → 2';
    await told('group', 'set', 'alerts', 'quota.publish.messagesPerSecond=2');
    expect(await told('audit', '--group', 'alerts')).toContain(change);
  });

  it('audit prints who changed what, follows, and gives JSON; the node writes a line of its own', async ({
    onTestFinished,
  }) => {
    const scene = new CliScene(onTestFinished);
    const node = scene.start(['run', '--config', join(scene.folderWith({ 'node.yaml': ONE_GROUP }), 'node.yaml')]);
    await node.logged('node ready: it reads and writes the topic, and decides');
    const url = await node.url();
    const quotamesh = async (...args: string[]) => await runInProcess([...args, '--url', url]);
    const put = async (path: string, body: object) => {
      expect(await sendJson('PUT', `${url}/v1/${path}`, body)).toBeLessThan(300);
    };
    await put('groups/new', { quota: { publish: { messagesPerSecond: '5k' } } });
    const following = scene.start(['audit', '--follow', '--url', url]);
    await following.until(() => following.stdout.includes('made group new'), 'the first change');
    await put('groups/new', { quota: { publish: { messagesPerSecond: '2k' } } });
    await put('attachments/acme', { group: 'new' });
    await following.until(() => following.stdout.includes('acme'), 'the changes that came later');
    const { stdout } = await quotamesh('audit', '--group', 'new');
    expect(stdout).toMatch(
      /^\d+ \S+Z a loopback \(open\) made group new: .*messagesPerSecond - → "5k"\n\d+ .* changed group new: quota.publish.messagesPerSecond "5k" → "2k"\n$/,
    );
    expect(following.stdout.startsWith(stdout)).toBe(true);
    const lines = (await quotamesh('audit', '--json')).stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).kind)).toEqual(['group', 'group', 'attachment']);
    expect(await node.logged('change accepted')).toMatchObject({
      audit: true,
      outcome: 'accepted',
      who: { name: 'loopback', how: 'open' },
      what: 'made',
      name: 'new',
      before: null,
      after: { quota: { publish: { messagesPerSecond: '5k' } } },
    });
    expect(await quotamesh('audit', '--group', 'x', '--scope', 'y')).toMatchObject({ code: 2 });
  });

  it('config show and check --json', async ({ onTestFinished }) => {
    const scene = new CliScene(onTestFinished);
    const folder = scene.folderWith({ 'node.yaml': ONE_GROUP, 'wrong.txt': `${ONE_GROUP}burst: 1\n` });
    const file = join(folder, 'node.yaml');
    const shown = await runInProcess(['config', 'show', '-c', folder, '--given', '--http', '7099']);
    expect(shown.stdout).toMatch(/^KEY +VALUE +SOURCE\n/);
    expect(shown.stdout).toMatch(new RegExp(`\ncluster +demo +${file}:1\n`));
    expect(shown.stdout).toMatch(/\nhttp\.port +7099 +--http\n/);
    expect(shown.stdout).not.toContain('default');
    const valid = await runInProcess(['check', folder, '--json']);
    expect([valid.code, JSON.parse(valid.stdout)]).toMatchObject([0, { valid: true, groups: 1 }]);
    const wrong = await runInProcess(['check', join(folder, 'wrong.txt'), '--json']);
    expect([wrong.code, JSON.parse(wrong.stdout)]).toMatchObject([78, { mistakes: [{ line: 6, path: 'burst' }] }]);
  });

  it('completion: bash completes commands, what is below them, and options; the others name all of them', async () => {
    const { stdout } = await runInProcess(['completion', 'bash']);
    const complete = completing(stdout);
    expect(await complete('quotamesh', 'gro')).toBe('group');
    expect(await complete('quotamesh', 'group', 's')).toBe('set');
    expect(await complete('quotamesh', 'group', 'set', 'orders', '--dry')).toBe('--dry-run');
    expect(await complete('quotamesh', 'completion', 'f')).toBe('fish');
    for (const shell of ['zsh', 'fish']) {
      const script = (await runInProcess(['completion', shell])).stdout;
      for (const word of ['group', 'export', 'top', '--sort', 'completion']) expect(script).toContain(word);
    }
    expect((await runInProcess(['completion', 'csh'])).code).toBe(2);
  });

  it('completion: bash completes names of groups from the node of the line, and none where there is no node', async ({
    onTestFinished,
  }) => {
    const groups = 'groups: { orders: {}, "key:alice": {}, "key:bob": {} }\n';
    const config = `cluster: demo\nnode: a\ntopic: { kind: memory }\nhttp: { port: 0 }\n${groups}`;
    const url = await nodeInProcess(config, onTestFinished);
    const script = (await runInProcess(['completion', 'bash'])).stdout;
    expect(await completing(script)('quotamesh', 'explain', '--url', url, 'or')).toBe('orders');
    const told = await runInProcess(['completion', 'groups', '--url', url]);
    expect(told).toMatchObject({ code: 0, stdout: 'orders\nkey:alice\nkey:bob\n' });
    expect((await runInProcess(['completion', 'groups', '--url', 'http://127.0.0.1:1'])).stdout).toBe('');
    // Says for the command what it said, where it is asked for that node.
    const asked = [`completion groups --url ${url}`, `completion groups --url=${url}`];
    const said = `quotamesh() { case "$*" in '${asked.join("'|'")}') printf '${told.stdout}' ;; esac; }`;
    const complete = completing(script, said);
    expect(await complete('quotamesh', 'group', 'set', `--url=${url}`, 'ord')).toBe('orders');
    expect(await complete('quotamesh', 'status', '--url', url, '--group', 'or')).toBe('orders');
    // Bash parts words at colons, and puts what is offered behind the last one.
    expect(await complete('quotamesh', 'explain', '--url', url, 'key:')).toBe('alice bob');
    expect(await complete('quotamesh', 'explain', '--url', 'http://127.0.0.1:1', 'or')).toBe('');
  });

  it('completion: bash runs nothing of what a node, or the command, names', async ({ onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), 'quotamesh-completion-'));
    const mark = join(folder, 'ran');
    const names = [`$(touch ${mark})`, `\`touch ${mark}\``, 'orders', 'or;ls', "or'", '*', '\u001b[2J'];
    const answer = JSON.stringify({ groups: names.map((group) => ({ group })), next: null });
    const server = createServer((_, response) => void response.end(answer)).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.close();
      rmSync(folder, { recursive: true });
    });
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const told = await runInProcess(['completion', 'groups', '--url', url]);
    expect(told).toMatchObject({ code: 0, stdout: 'orders\n' });
    const script = (await runInProcess(['completion', 'bash'])).stdout;
    expect(await completing(script)('quotamesh', 'explain', '--url', url, 'or')).toBe('orders');
    // Another version prints names as they come.
    const printing = `quotamesh() { printf '%s\\n' '$(touch ${mark})' orders; }`;
    expect(await completing(script, printing)('quotamesh', 'explain', 'or')).toBe('orders');
    expect(existsSync(mark)).toBe(false);
  });

  it('status: the busiest of many groups, how many are left out, and --all', async ({ onTestFinished }) => {
    const names = Array.from({ length: 450 }, (_, at) => `g${at}`);
    const quota = '{ quota: { publish: { messagesPerSecond: 50 } } }';
    const groups = `groups:\n${names.map((name) => `  ${name}: ${quota}`).join('\n')}\n`;
    const config = `cluster: demo\nnode: a\ntopic: { kind: memory }\nhttp: { port: 0 }\n${groups}`;
    const url = await nodeInProcess(config, onTestFinished);
    const load = setInterval(() => {
      void acquire(url, 'g440', 10);
      void acquire(url, 'g441');
    }, 50);
    onTestFinished(() => clearInterval(load));
    const status = async (...args: string[]) => (await runInProcess(['status', '--url', url, ...args])).stdout;
    const groupsIn = (text: string) => [...text.matchAll(/^(g\d+) /gm)].map(([, name]) => name);
    await expect.poll(async () => groupsIn(await status())[1], { timeout: 20_000 }).toBe('g441');
    const few = await status();
    expect(groupsIn(few).slice(0, 3)).toEqual(['g440', 'g441', 'g0']);
    expect(groupsIn(few)).toHaveLength(20);
    expect(few).toMatch(/\n430 more groups: --all shows them, --group NAME one\.\n$/);
    expect(await status('--groups', '3')).toMatch(/\n447 more groups: /);
    const all = await status('--all');
    expect(groupsIn(all)).toHaveLength(450);
    expect(all).not.toContain('more groups');
    const once = await runInProcess(['top', '--once', '--url', url], { FORCE_COLOR: '1' });
    expect(once.stdout).toMatch(/^cluster demo-\S+ · 1 nodes · as node a sees it · by throttled\n\nGROUP +DIRECTION/);
    expect(once.stdout).not.toContain('\x1b');
  });
});

/** What bash offers for the last of the words. */
function completing(script: string, command = `quotamesh() { '${process.execPath}' '${COMMAND_FILE}' "$@"; }`) {
  return async (...words: string[]) => {
    const line = words.join(' ');
    // As bash parts them.
    const parted = words.flatMap((word) => word.split(/(?<=:)|(?=:)/));
    const given = [
      `COMP_WORDS=(${parted.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${parted.length - 1}`,
      `COMP_LINE='${line}'; COMP_POINT=${line.length}; COMP_WORDBREAKS=' :'`,
      command,
    ];
    const asked = `${script}\n${given.join('\n')}\n_quotamesh; echo "\${COMPREPLY[@]}"`;
    return (await promisify(execFile)('bash', ['-c', asked])).stdout.trim();
  };
}

async function acquire(url: string, group = 'orders', messages = 1): Promise<void> {
  await sendJson('POST', `${url}/v1/acquire`, { group, messages }).catch(() => undefined);
}
