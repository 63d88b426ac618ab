import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { PidClaim, type ProcessIdentity } from '../../../src/topic/embedded/pid-claim.js';
import { expectCode } from '../../conformance/topic-expectations.js';

const HERE: ProcessIdentity = { pid: 1, namespace: 'pid:[1]' };
const THERE: ProcessIdentity = { pid: 1, namespace: 'pid:[2]' };

let folder: string;
const claims: (PidClaim | null)[] = [];
beforeEach(() => {
  // Longer than a path of a socket may be.
  folder = mkdtempSync(join(tmpdir(), `quotamesh-${'x'.repeat(100)}-`));
});
afterEach(async () => {
  for (const claim of claims.splice(0)) await claim?.release();
  rmSync(folder, { recursive: true });
});

async function take(identity?: ProcessIdentity): Promise<PidClaim | null> {
  const claim = await PidClaim.take(folder, identity);
  claims.push(claim);
  return claim;
}

const sockets = () => readdirSync(folder).filter((name) => name.startsWith('.process-'));

describe.skipIf(process.platform !== 'linux')('a process id in a folder', () => {
  test('is refused to a process of another PID namespace, which is told of the holder, until it is free', async () => {
    const held = await take(HERE);
    await expectCode(PidClaim.take(folder, THERE), 'TOPIC_PID_TAKEN');
    await expect(PidClaim.take(folder, THERE)).rejects.toThrow('the process id of this one (1): pid:[1]');
    expect(sockets()).toHaveLength(1);
    await held?.release();
    claims.length = 0;
    expect(await take(THERE)).not.toBeNull();
  });

  test('is given to whoever has another one, and to the same process once more', async () => {
    for (const identity of [HERE, { ...THERE, pid: 2 }, HERE]) expect(await take(identity)).not.toBeNull();
    expect(sockets()).toHaveLength(3);
  });

  test('is given to one of two that begin at once, and to no more', async () => {
    const taken = await Promise.allSettled([THERE, HERE].map(take));
    expect(taken.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('of this process is one claim for all its topics, and free when the last of them has gone', async () => {
    const [first, second] = [await PidClaim.take(folder), await PidClaim.take(folder)];
    expect([second === first, sockets().length]).toEqual([true, 1]);
    await first?.release();
    expect(sockets()).toHaveLength(1);
    await second?.release();
    expect(sockets()).toEqual([]);
  });

  test('of a process that was killed is free, whoever looks next', async () => {
    for (const pid of [1, 7]) {
      const listen = `require('net').createServer().listen('.process-${pid}-0', () => process.kill(process.pid, 'SIGKILL'))`;
      spawnSync(process.execPath, ['-e', listen], { cwd: folder });
    }
    expect(sockets()).toHaveLength(2);
    expect(await take(THERE)).not.toBeNull();
    expect(sockets()).toHaveLength(1);
  });

  test('of a process that cannot take one more connection is held', async () => {
    const names = ['.process-1-0', '.process-7-0'];
    const busy = spawn(process.execPath, ['-e', FULL_OF_CONNECTIONS, ...names], { cwd: folder });
    onTestFinished(() => void busy.kill('SIGKILL'));
    await once(busy.stdout, 'data');
    await expectCode(PidClaim.take(folder, THERE), 'TOPIC_PID_TAKEN');
    expect(await take({ ...THERE, pid: 2 })).not.toBeNull();
    expect(sockets()).toEqual(expect.arrayContaining(names));
  });

  test('is claimed by nobody in a folder that is gone', async () => {
    writeFileSync(join(folder, 'file'), '');
    expect(await PidClaim.take(join(folder, 'file'), HERE)).toBeNull();
    expect(await PidClaim.take(join(folder, 'missing'), HERE)).toBeNull();
  });
});

/** Listens, connects to itself more often than its backlog has room, and stands still. */
const FULL_OF_CONNECTIONS = `
  const { connect, createServer } = require('node:net');
  const names = process.argv.slice(1);
  let listening = 0;
  for (const path of names) createServer().listen({ path, backlog: 1 }, () => {
    for (let count = 0; count < 5; count++) connect(path).on('error', () => undefined);
    if (++listening < names.length) return;
    require('node:fs').writeSync(1, 'full');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;
