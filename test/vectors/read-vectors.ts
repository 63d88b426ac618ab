import { readFileSync } from 'node:fs';

/** One file of this folder, as the caller's type describes it. */
export function readVectors<File>(name: string): File {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as File;
}
