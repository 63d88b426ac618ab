import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * What makes the clock of a Java process so many seconds fast (moved-clock.c), as variables of its environment. Rejects
 * where there is no C compiler.
 *
 * @param folder where the compiled library goes
 */
export async function movedClock(folder: string, seconds: number): Promise<Readonly<Record<string, string>>> {
  const library = join(folder, 'moved-clock.so');
  const source = join(import.meta.dirname, 'moved-clock.c');
  await run('cc', ['-shared', '-fPIC', '-O1', '-o', library, source]);
  return { LD_PRELOAD: library, MOVED_SECONDS: String(seconds) };
}
