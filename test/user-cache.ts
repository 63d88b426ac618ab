import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns the folder of this name in the cache of the user, filled once. Runs that fetch at the same time each fetch
 * into a folder of their own; the first rename wins.
 */
export async function inUserCache(name: string, fetchInto: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'quotamesh', name);
  if (existsSync(folder)) return folder;
  const own = `${folder}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(own, { recursive: true });
    await fetchInto(own);
    await rename(own, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(own, { recursive: true, force: true });
  }
  return folder;
}

/** Why a fetch failed, in one line. */
export function firstLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr || message).trim().split('\n')[0];
}
