import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { NodeStatus } from '../../src/node/api/node-status.js';
import { Cluster } from '../cluster/cluster.js';

const run = promisify(execFile);
const program = fileURLToPath(new URL('programs/embedded-full-disk.mjs', import.meta.url));
/** In blocks of 512 bytes: 1 MiB for each file. A write beyond it fails, where the signal that tells of it is ignored. */
const SMALL_DISK = 'trap "" XFSZ; ulimit -f 2048; exec "$@"';
/** What lmdb itself prints of a commit that failed. */
const STACK = /lmdb\/write\.js:\d+/g;
const DEADLINE_MS = 20_000;

test('a bound that the file system does not tell of is an outage of the topic, met once, and does not end the service', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-full-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { stdout, stderr } = await run('sh', ['-c', SMALL_DISK, 'sh', process.execPath, program, folder]);
  expect(JSON.parse(/\[.*\]$/.exec(stdout)?.[0] ?? 'null')).toEqual([
    // A write that is cut short is an input or output error to lmdb.
    expect.stringMatching(/^TOPIC_(UNREACHABLE|DISK_FULL)$/),
    'TOPIC_DISK_FULL',
    'TOPIC_DISK_FULL',
  ]);
  expect(stderr.match(STACK)).toHaveLength(1);
});

test('nodes on a full disk say so in their log and status, print nothing else, and recover when there is room', async ({
  skip,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-small-'));
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]).catch((error: Error) => error);
  if (mounted instanceof Error) skip(`no small disk can be made here (mount: ${mounted.message.trim()})`);
  onTestFinished(() => run('umount', [folder]).then(() => rm(folder, { recursive: true })));
  const cluster = await Cluster.create({ topic: { kind: 'embedded', path: join(folder, 'topic') } });
  onTestFinished(() => cluster.stop());
  await cluster.start('a', 'b');
  const ballast = join(folder, 'ballast');
  await writeFile(ballast, Buffer.alloc(64 * 1024 ** 2)).catch(() => {});
  const full = await until(cluster, ({ topic }) => topic.lost !== null);
  expect(full.topic.lost).toContain('its disk is full');
  expect(full.degraded.join()).toContain('its disk is full');
  // Nobody changes a group afterwards: the registry has to find out by itself that there is room again.
  const change = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{}' };
  // Its answer, after 15 s, is another test's.
  const signal = AbortSignal.timeout(2000);
  fetch(`${cluster.url('a')}/v1/groups/new`, { ...change, signal }).catch(() => undefined);
  await until(cluster, ({ registry }) => registry.lost?.includes('its disk is full') === true);
  await until(cluster, ({ degraded }) => degraded.some((reason) => reason.startsWith('isolated')));
  await rm(ballast);
  const recovered = await until(cluster, ({ topic, degraded }) => topic.lost === null && degraded.length === 0);
  expect(recovered).toMatchObject({ ready: true, registry: { lost: null } });
  for (const node of cluster.nodes.values()) {
    const lines = node.child.output.split('\n').filter(Boolean);
    expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
    expect(lines.filter((line) => line.includes('"topic lost"'))).toHaveLength(1);
  }
});

async function until(cluster: Cluster, isSo: (status: NodeStatus) => boolean): Promise<NodeStatus> {
  const givenUpAt = performance.now() + DEADLINE_MS;
  for (;;) {
    const status = await cluster.status('a');
    if (isSo(status)) return status;
    if (performance.now() > givenUpAt) throw new Error(`not within ${DEADLINE_MS} ms: ${JSON.stringify(status)}`);
    await sleep(50);
  }
}
