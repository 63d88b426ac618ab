import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { readTextFile } from '../read/read-text-file.js';

/**
 * The files that a configuration is made of: the file itself, or the YAML files right in a folder, by name. What begins
 * with a dot is left out: so are `..data` and its like, by which Kubernetes swaps a ConfigMap. Throws an Error whose
 * message says in a few words what is wrong.
 */
export function configFiles(path: string): readonly string[] {
  if (!isFolder(path)) return [path];
  const names = readdirSync(path).filter((name) => /^[^.].*\.ya?ml$/i.test(name));
  if (names.length === 0) throw new Error('the folder has no file that ends in .yaml or .yml');
  return names.sort().map((name) => join(path, name));
}

/** Reads all files as they were at one moment. Throws CONFIG_UNREADABLE. */
export function readConfigFiles(path: string): readonly ReadFile[] {
  for (let reads = 1; ; reads++) {
    const stamp = configStamp(path);
    const texts = readTexts(path);
    // A folder whose files are swapped meanwhile is read again.
    if (texts.length === 1 || configStamp(path) === stamp || reads >= READS_MAX) return texts;
  }
}

interface ReadFile {
  readonly file: string;
  readonly text: string;
}

/** About 90,000 groups, or 100,000 descriptors; parsing that takes seconds. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
/** Most readings of files that change meanwhile: a ConfigMap is swapped once a minute at most. */
const READS_MAX = 5;

function readTexts(path: string): readonly ReadFile[] {
  let file = path;
  try {
    return configFiles(path).map((each) => {
      file = each;
      return { file, text: readTextFile(file, FILE_BYTES_MAX) };
    });
  } catch (error) {
    throw new QuotameshError('CONFIG_UNREADABLE', { file, reason: (error as Error).message }, { cause: error });
  }
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Returns a text that changes with any file of the configuration: if another is there, also by a symbolic link on the
 * way, or if it was written to. Never throws: that a file is gone is a state, too.
 */
export function configStamp(path: string): string {
  try {
    return configFiles(path).map(stampOf).join('\n');
  } catch (error) {
    return `unreadable: ${(error as Error).message}`;
  }
}

/** One stamp for the files that a configuration names: tokens, certificates. */
export function filesStamp(files: readonly string[]): string {
  return files.map((file) => `\n${configStamp(file)}`).join('');
}

/** 0 where it cannot be read. */
export function configBytes(path: string): number {
  try {
    return configFiles(path).reduce((total, file) => total + statSync(file).size, 0);
  } catch {
    return 0;
  }
}

function stampOf(file: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
  return [file, realpathSync(file), dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
