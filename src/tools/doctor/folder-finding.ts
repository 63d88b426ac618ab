import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { type Finding, good, wrong } from './finding.js';

/** Checks a folder; nodes make a missing one if its parent is writable. */
export async function folderFinding(about: string, path: string): Promise<Finding> {
  const there = await nearestThere(path);
  try {
    await access(there, constants.W_OK | constants.X_OK);
    // root may also enter what is no folder.
    if (!(await stat(there)).isDirectory()) throw new Error(`${there} is no folder`);
  } catch (error) {
    return wrong(about, new QuotameshError('FILE_UNWRITABLE', { path, reason: (error as Error).message }));
  }
  return good(about, there === path ? `${path} can be written` : `${path} can be made in ${there}`);
}

/** Linux numbers of NFS, SMB (two) and Ceph, where LMDB's locks fail. */
const NETWORK = new Set([0x6969, 0xff534d42, 0xfe534d42, 0x00c36400]);

/** Describes a network folder, whose processes cannot share a map; null = none. */
export async function networkMistake(path: string): Promise<QuotameshError | null> {
  const { type } = await statfs(await nearestThere(path));
  if (!NETWORK.has(type)) return null;
  const reason = 'it lies on a network file system, where locks of processes do not hold; use a local disk';
  return new QuotameshError('TOPIC_SETTINGS', { topic: path, reason });
}

async function nearestThere(path: string): Promise<string> {
  const isThere = await stat(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
  );
  return isThere || dirname(path) === path ? path : nearestThere(dirname(path));
}
