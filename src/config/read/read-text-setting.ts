import { resolve } from 'node:path';
import type { Findings } from '../setting/findings.js';
import type { SettingValues } from './read-node.js';

export interface FileContext {
  /** Start of relative paths. */
  readonly folder: string;
  readonly readFile: (path: string, bytesMax: number) => string;
}

const SECRET_BYTES_MAX = 65_536;

/** Puts the text of `<key>File` under `key` and returns the file's absolute path; null where there is none. `section` is the path of `key`'s section. */
export function readTextSetting(
  values: Map<string, unknown>,
  { section, key }: { readonly section: string; readonly key: string },
  findings: Findings,
  context: FileContext,
): string | null {
  const file = values.get(`${key}File`);
  values.delete(`${key}File`);
  if (typeof file !== 'string') return null;
  const path = [section, ...`${key}File`.split('.')];
  const allowed = 'the path of a text file of at most 64 KiB';
  if ((values as SettingValues).get(key) !== null) {
    const problem = `and ${section}.${key} exclude each other`;
    findings.add(path, { problem, allowed: 'one of the two', remedy: 'Remove one of the two.' });
    return null;
  }
  values.delete(key);
  const absolute = resolve(context.folder, file);
  try {
    // Editors and `echo` end a file with a newline that is no part of a password.
    const text = context.readFile(absolute, SECRET_BYTES_MAX).replace(/\r?\n$/, '');
    if (text === '') throw new Error('it is empty');
    values.set(key, text);
  } catch (error) {
    const problem = `cannot be read: ${(error as Error).message}`;
    findings.add(path, { problem, allowed, remedy: 'Check the path and its permissions.' });
  }
  return absolute;
}
