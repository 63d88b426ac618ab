import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { Finding } from '../../config/setting/topic-kind.js';
import { good, wrong } from './finding.js';

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

/** Finds the nearest folder above that exists, or the path itself. */
export async function nearestThere(path: string): Promise<string> {
  const isThere = await stat(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
  );
  return isThere || dirname(path) === path ? path : nearestThere(dirname(path));
}
