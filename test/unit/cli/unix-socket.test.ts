import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { describe, it } from 'vitest';
import { type CliProcess, CliScene } from './cli-process.js';
import { runInProcess } from './run-in-process.js';

const NODE = `cluster: demo
topic: { kind: embedded, path: ./state }
groups:
  orders: { quota: { publish: { messagesPerSecond: 1000 } } }
`;

describe.concurrent('HTTP on a Unix socket', () => {
  it('decides and changes groups for programs and commands; the file is for its owner, and goes with the node', async ({
    expect,
    onTestFinished,
  }) => {
    const { scene, folder, socket } = sceneOf(onTestFinished);
    const node = await start(scene, folder, socket);
    expect(await node.logged('http listening')).toMatchObject({ url: `unix:${socket}` });
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    await node.until(async () => (await acquire(socket)) === 200, 'granted acquire');
    const url = ['--url', `unix:${socket}`];
    expect(await runInProcess(['group', 'set', 'later', 'quota.publish.messagesPerSecond=5', ...url])).toMatchObject({
      code: 0,
    });
    const shown = await runInProcess(['status', ...url]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^later +publish msg\/s/m) });
    node.kill('SIGTERM');
    expect(await node.exit).toMatchObject({ code: 0 });
    expect(readdirSync(folder).filter((name) => name.startsWith('q.sock'))).toEqual([]);
    expect(await runInProcess(['status', ...url])).toMatchObject({
      code: 69,
      stderr: expect.stringContaining(`no answer from a node at unix:${socket}`),
    });
  });

  it('what a killed node left is replaced; a socket on which a node listens is not, nor removed by another', async ({
    expect,
    onTestFinished,
  }) => {
    const { scene, folder, socket } = sceneOf(onTestFinished);
    const killed = await start(scene, folder, socket);
    killed.kill('SIGKILL');
    await killed.exit;
    expect(existsSync(socket)).toBe(true);
    const node = await start(scene, folder, socket);
    await node.until(async () => (await acquire(socket)) === 200, 'granted acquire');
    const other = scene.start(argumentsOf(folder, socket, 'b'));
    expect(await other.exit).toMatchObject({
      code: 69,
      stderr: expect.stringContaining(`cannot listen on ${socket}: another process listens there`),
    });
    expect(await acquire(socket)).toBe(200);
    expect(readdirSync(folder).filter((name) => name.startsWith('q.sock'))).toEqual(['q.sock']);
    // As an operator may do it by hand.
    rmSync(socket);
    const second = await start(scene, folder, socket, 'b');
    node.kill('SIGTERM');
    expect(await node.exit).toMatchObject({ code: 0 });
    await second.until(async () => (await acquire(socket)) === 200, 'granted acquire');
  });

  it('a file that is no socket stays, and is the reason', async ({ expect, onTestFinished }) => {
    const { folder, socket } = sceneOf(onTestFinished);
    writeFileSync(socket, 'precious');
    expect(await runInProcess(argumentsOf(folder, socket, 'a'))).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('the file that is there is no socket'),
    });
    expect(statSync(socket).size).toBe(8);
  });

  it('http.socketAccess opens it to the group or to everyone, and auth: asks who comes', async ({
    expect,
    onTestFinished,
  }) => {
    const { scene, folder, socket } = sceneOf(onTestFinished);
    const auth = `auth: { tokens: [{ name: me, hash: "sha256:${'0'.repeat(64)}", roles: [traffic] }] }\n`;
    writeFileSync(`${folder}/node.yaml`, `${NODE}${auth}http: { socket: ${socket}, socketAccess: group }\n`);
    const node = scene.start(['run', '--config', `${folder}/node.yaml`]);
    await node.logged('http listening');
    expect(statSync(socket).mode & 0o777).toBe(0o660);
    expect(await acquire(socket)).toBe(401);
    expect(node.lines[0]?.node).toMatch(/-q\.sock$/);
  });
});

function sceneOf(onTestFinished: (end: () => void | Promise<void>) => void) {
  const scene = new CliScene(onTestFinished);
  const folder = scene.folderWith({ 'node.yaml': NODE });
  return { scene, folder, socket: `${folder}/q.sock` };
}

function argumentsOf(folder: string, socket: string, nodeId: string): string[] {
  return ['run', '--config', `${folder}/node.yaml`, '--node', nodeId, '--http', `unix:${socket}`];
}

async function start(scene: CliScene, folder: string, socket: string, nodeId = 'a'): Promise<CliProcess> {
  const node = scene.start(argumentsOf(folder, socket, nodeId));
  await node.logged('http listening');
  await node.logged('node ready: it reads and writes the topic, and decides');
  return node;
}

async function acquire(socketPath: string): Promise<number | undefined> {
  const headers = { 'content-type': 'application/json' };
  return await new Promise((resolve, reject) => {
    const sent = request({ socketPath, path: '/v1/acquire', method: 'POST', headers }, (answer) => {
      resolve(answer.resume().statusCode);
    });
    sent.once('error', reject);
    sent.end('{"group":"orders","messages":1}');
  });
}
