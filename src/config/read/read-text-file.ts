import { readFileSync, statSync } from 'node:fs';

/** Reads a small UTF-8 text file. Throws an Error whose message says in a few words what is wrong with it. */
export function readTextFile(path: string, bytesMax: number): string {
  const stats = guarded(() => statSync(path));
  if (stats.isDirectory()) throw new Error('it is a folder');
  // A pipe or a device could keep us waiting for ever.
  if (!stats.isFile()) throw new Error('it is not a regular file');
  if (stats.size > bytesMax) throw new Error(`it has ${stats.size} bytes, at most ${bytesMax} are read`);
  const bytes = guarded(() => readFileSync(path));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('it is not UTF-8 text');
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'too many symbolic links',
};

function guarded<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    throw new Error(REASONS[code] ?? (error as Error).message, { cause: error });
  }
}
