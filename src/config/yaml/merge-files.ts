import { isMapping } from '../../base/input/mapping.js';
import { notAMapping } from '../schema/read-section.js';
import { formatPath, type Mistake } from '../setting/config-error.js';
import type { Locate, Location } from '../setting/findings.js';
import { pathKey } from '../setting/findings.js';
import type { ParsedYaml } from './parse-yaml.js';

export interface ParsedFile {
  readonly file: string;
  readonly parsed: ParsedYaml;
}

/**
 * One configuration from several files: sections are put together, and so are the keys right below a section (groups of
 * several files, say). What two files write is a mistake: which of them was meant would depend on their names.
 */
export function mergeFiles(files: readonly ParsedFile[]) {
  const mistakes: readonly Mistake[] = files.flatMap(({ file, parsed }) => {
    return parsed.mistakes.map(({ path, location, ...finding }) => ({
      file,
      ...location,
      path: formatPath(path),
      ...finding,
    }));
  });
  const [first, ...others] = files;
  if (first !== undefined && others.length === 0) {
    const { raw, locate } = first.parsed;
    const locateHere: Locate = (path, part) => locationIn(first, locate(path, part));
    return { raw, locate: locateHere, mistakes };
  }
  const merge = new Merge();
  for (const file of files) if (file.parsed.readable) merge.add(file);
  return { raw: merge.root, locate: merge.locate, mistakes: [...mistakes, ...merge.mistakes] };
}

class Merge {
  readonly root: Record<string, unknown> = {};
  readonly mistakes: Mistake[] = [];
  /** Path → the file that wrote it. */
  readonly #writers = new Map<string, ParsedFile>();
  #first: ParsedFile | undefined;

  add(file: ParsedFile): void {
    this.#first ??= file;
    const { raw } = file.parsed;
    if (raw === null || raw === undefined) return;
    if (!isMapping(raw)) {
      this.#addMistake(file, [], notAMapping(['cluster', 'topic', 'groups'], raw));
      return;
    }
    for (const [key, value] of Object.entries(raw)) this.#addSection(file, key, value);
  }

  readonly locate: Locate = (path, part) => {
    const writer = this.#writers.get(pathKey(path.slice(0, 2))) ?? this.#writers.get(pathKey(path.slice(0, 1)));
    return writer === undefined ? null : locationIn(writer, writer.parsed.locate(path, part));
  };

  #addSection(file: ParsedFile, key: string, value: unknown): void {
    const before = this.root[key];
    if (!Object.hasOwn(this.root, key)) {
      this.root[key] = isMapping(value) ? { ...value } : value;
      this.#writers.set(pathKey([key]), file);
    } else if (!isMapping(before) || !isMapping(value)) {
      this.#addTwice(file, [key]);
      return;
    } else {
      for (const [name, below] of Object.entries(value)) {
        if (Object.hasOwn(before, name)) this.#addTwice(file, [key, name]);
        else (before as Record<string, unknown>)[name] = below;
      }
    }
    if (!isMapping(value)) return;
    for (const name of Object.keys(value)) {
      const path = pathKey([key, name]);
      if (!this.#writers.has(path)) this.#writers.set(path, file);
    }
  }

  #addTwice(file: ParsedFile, path: readonly string[]): void {
    const writer = this.#writers.get(pathKey(path)) ?? this.#first;
    const line = writer?.parsed.locate(path, 'key')?.line;
    const problem = `is written in two files, first in ${writer?.file}${line === undefined ? '' : `:${line}`}`;
    this.#addMistake(file, path, { problem, allowed: 'each key in one file', remedy: 'Keep one of the two.' });
  }

  #addMistake(
    { file, parsed }: ParsedFile,
    path: readonly string[],
    finding: Pick<Mistake, 'problem' | 'allowed' | 'remedy'>,
  ): void {
    const { line = null, column = null } = parsed.locate(path, 'key') ?? {};
    this.mistakes.push({ file, line, column, path: formatPath(path), ...finding });
  }
}

function locationIn({ file }: ParsedFile, location: Location | null): Location | null {
  return location === null ? null : { ...location, file };
}
