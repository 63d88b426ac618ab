import { execFile } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A broker writes a few MB in half an hour; its index files are sparse. */
const DISK_MB = 96;
const FILLER = 'filler';

/** A small disk of its own for every broker, that can be filled. */
export interface BrokerDisks {
  readonly folders: readonly string[];
  /** Null = disks can be filled; otherwise why they are folders of a common disk. */
  readonly notOwn: string | null;
  fill(broker: number): void;
  empty(broker: number): Promise<void>;
  /** A command for a shell that outlives us. */
  readonly cleanUp: string;
  remove(): Promise<void>;
}

/** tmpfs file systems, where we may mount. */
export async function mountDisks(parent: string, count: number): Promise<BrokerDisks> {
  const folders = Array.from({ length: count }, (_, broker) => join(parent, `disk-${broker + 1}`));
  await Promise.all(folders.map((folder) => mkdir(folder)));
  const mounted: string[] = [];
  let notOwn: string | null = null;
  try {
    for (const folder of folders) {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'quotamesh-chaos', folder]);
      mounted.push(folder);
    }
  } catch (error) {
    notOwn = `no file system of its own can be mounted: ${(error as Error).message.trim().split('\n').at(-1)}`;
    await unmount(mounted.splice(0));
  }
  return {
    folders,
    notOwn,
    fill: (broker) => fillUp(join(folders[broker], FILLER)),
    empty: (broker) => rm(join(folders[broker], FILLER), { force: true }),
    cleanUp: mounted.map((folder) => `umount -l '${folder}'`).join('; ') || ':',
    remove: () => unmount(mounted),
  };
}

/** Lazily: a broker that was just killed may still hold its files. */
async function unmount(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await run('umount', ['-l', folder]).catch(() => undefined);
}

function fillUp(file: string): void {
  const descriptor = openSync(file, 'a');
  try {
    // Large pieces, then small ones, until not a byte more fits.
    for (const size of [1 << 20, 4096, 1]) {
      const piece = Buffer.alloc(size);
      try {
        while (writeSync(descriptor, piece) === size);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
