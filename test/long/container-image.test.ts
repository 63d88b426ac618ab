import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { buildah, CHROOT, STORAGE, whyNoImages } from '../image/buildah.js';
import { buildImage, IMAGE, type ImageConfig } from '../image/built-image.js';

const BUILD_MS = 1_100_000;
/** LMDB's binaries for four kinds of Linux are over half of it; 33 MB when this was written. */
const MOST_MEGABYTES = 40;
const YAML = `cluster: image
topic: { kind: embedded, path: /state/log }
insecure: true
groups: { orders: { quota: { publish: { messagesPerSecond: 1000 } } } }
`;

const why = await whyNoImages();
if (why !== null) console.log(why);

/** The Dockerfile's own steps, on a Debian with Node.js 22, and what they made is started as Docker would start it. */
describe.skipIf(why !== null)('the container image', () => {
  let image: ImageConfig;
  let container: string;

  beforeAll(async () => {
    image = await buildImage();
    container = await buildah('from', IMAGE);
  }, BUILD_MS);
  afterAll(async () => {
    if (container !== undefined) await buildah('rm', container);
    await buildah('rmi', '--force', IMAGE);
  });

  const inside = (...command: readonly string[]) => buildah('run', ...CHROOT, container, '--', ...command);

  test('has the package and what it needs, nothing of the build, and is small', async () => {
    const there = (await inside('ls', '/quotamesh')).split('\n');
    expect(there).toEqual(['LICENSE', 'dist', 'examples', 'node_modules', 'package.json', 'proto', 'schema']);
    await expect(inside('ls', '/build', '/package')).rejects.toThrow('No such file');
    const packages = (await inside('find', 'node_modules', '-name', 'package.json', '-maxdepth', '2')).split('\n');
    expect(packages).toEqual(
      expect.arrayContaining(['node_modules/kafkajs/package.json', 'node_modules/lmdb/package.json']),
    );
    expect(packages.filter((file) => /typescript|rolldown|vitest|express/.test(file))).toEqual([]);
    const [bytes = ''] = (await inside('du', '--bytes', '--summarize', '/quotamesh')).split('\t');
    expect(Number(bytes) / 1e6).toBeLessThan(MOST_MEGABYTES);
  });

  test('runs as nobody important, and has a folder of its own for the embedded topic', async () => {
    expect(await inside('id', '-u')).toBe('1000');
    await inside('touch', '/state/mine');
    await expect(inside('touch', '/quotamesh/mine')).rejects.toThrow('Permission denied');
  });

  test('is started, answers over HTTP with the live page and decisions, is well by its own check, and ends at once', async () => {
    const [port] = await freePorts(1);
    // The network is the machine's: a free port stands for the image's own.
    const local = (command: readonly string[]) => command.map((word) => word.replace('7070', `${port}`));
    const node = startedNode(container, local([...image.Entrypoint, ...image.Cmd]));
    const origin = `http://127.0.0.1:${port}`;
    const isReady = () => fetch(`${origin}/readyz`).then(({ status }) => status, String);
    await expect.poll(isReady, { timeout: 60_000, interval: 200 }).toBe(200);
    const [kind, ...healthCheck] = local(image.Healthcheck.Test);
    expect(kind).toBe('CMD');
    await inside(...healthCheck);
    const page = await (await fetch(origin, { headers: { accept: 'text/html' } })).text();
    expect(page).toMatch(/^<!doctype html>/);
    expect(page.length).toBeGreaterThan(50_000);
    const ask = () =>
      fetch(`${origin}/v1/acquire`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"group":"orders","messages":1}',
      });
    await expect.poll(async () => (await ask()).status, { timeout: 20_000 }).toBe(200);
    const [pid, user] = processOf(`0.0.0.0:${port}`);
    expect(user).toBe(1000);
    process.kill(pid, 'SIGTERM');
    await node.ended;
    await expect(inside(...healthCheck)).rejects.toThrow();
    expect(node.output()).toContain('"msg":"node ready');
    expect(node.output()).not.toContain('"level":"error"');
  });

  test('has all that its commands need: the configuration is read, and a simulation judged', async () => {
    expect(await inside('node', 'dist/bin/quotamesh.js', 'sim', 'list')).toContain('steal-halfway');
  });
});

/** In the foreground of its container, whose end is that of the node. */
function startedNode(container: string, command: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-image-'));
  const file = join(folder, 'node.yaml');
  writeFileSync(file, YAML);
  chmodSync(folder, 0o755);
  const mount = ['--volume', `${file}:/etc/quotamesh/node.yaml:ro`];
  const child: ChildProcess = spawn('buildah', [...STORAGE, 'run', ...CHROOT, ...mount, container, '--', ...command]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  return { ended, output: () => output };
}

/** Process id and user of the node that listens there: buildah hands no signal on to it. */
function processOf(address: string): readonly [pid: number, user: number] {
  const found = readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return words[0]?.endsWith('node') && words.includes(address);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
  expect(found).toHaveLength(1);
  const [, user] = /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${found[0]}/status`, 'utf8')) ?? [];
  return [Number(found[0]), Number(user)];
}
