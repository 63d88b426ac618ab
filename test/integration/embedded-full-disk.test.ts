import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const program = fileURLToPath(new URL('programs/embedded-full-disk.mjs', import.meta.url));
/** In blocks of 512 bytes: 1 MiB for each file. A write beyond it fails, where the signal that tells of it is ignored. */
const SMALL_DISK = 'trap "" XFSZ; ulimit -f 2048; exec "$@"';

test('a full disk is an outage of the topic, and does not end the service that embeds it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-full-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { stdout } = await promisify(execFile)('sh', ['-c', SMALL_DISK, 'sh', process.execPath, program, folder]);
  // lmdb itself prints a line about the failed write before.
  expect(JSON.parse(/\[.*\]$/.exec(stdout)?.[0] ?? 'null')).toEqual(Array(3).fill('TOPIC_UNREACHABLE'));
});
