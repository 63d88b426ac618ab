import { formatPath, MISTAKES_MAX, type Mistake } from './config-error.js';

export type ConfigPath = readonly (string | number)[];

export interface Location {
  readonly line: number;
  readonly column: number;
  /** File of the configuration; absent = there is one. */
  readonly file?: string;
}

/** Finds the key or value of a path in the text; if absent, the nearest location around it. */
export type Locate = (path: ConfigPath, part: 'key' | 'value') => Location | null;

export type FoundMistake = Pick<Mistake, 'problem' | 'allowed' | 'remedy' | 'cause'>;

interface AddOptions {
  readonly part?: 'key' | 'value';
  readonly writtenAt?: ConfigPath;
}

/** Collects a configuration's mistakes, with who wrote each: file, variable or flag. */
export class Findings {
  readonly mistakes: Mistake[] = [];
  readonly #source: string;
  readonly #locate: Locate;
  /** Path → variable or flag that set it. */
  readonly #origins = new Map<string, string>();
  /** Path → the shorter one that stands in the text for it. */
  readonly #written = new Map<string, ConfigPath>();

  constructor(source: string, locate: Locate = () => null) {
    this.#source = source;
    this.#locate = locate;
  }

  get isFull(): boolean {
    return this.mistakes.length >= MISTAKES_MAX;
  }

  setOrigin(path: ConfigPath, origin: string): void {
    this.#origins.set(pathKey(path), origin);
  }

  /** Notes that what is read at `path` stands shortened at `written`. */
  setWritten(path: ConfigPath, written: ConfigPath): void {
    this.#written.set(pathKey(path), written);
  }

  /** The path as it stands in the text. */
  asWritten(path: ConfigPath): ConfigPath {
    if (this.#written.size === 0) return path;
    for (let length = path.length; length > 0; length--) {
      const written = this.#written.get(pathKey(path.slice(0, length)));
      if (written !== undefined) return [...written, ...path.slice(length)];
    }
    return path;
  }

  /** `writtenAt`: where to look for the text, if that is not the path itself. */
  add(path: ConfigPath, finding: FoundMistake, { part = 'value', writtenAt = path }: AddOptions = {}): void {
    if (this.isFull) return;
    const origin = this.#originOf(writtenAt);
    const location = origin === undefined ? this.#locate(this.asWritten(writtenAt), part) : null;
    this.mistakes.push({
      file: origin ?? location?.file ?? this.#source,
      line: location?.line ?? null,
      column: location?.column ?? null,
      path: formatPath(origin === undefined ? this.asWritten(path) : path),
      problem: finding.problem,
      allowed: finding.allowed,
      remedy: finding.remedy,
      ...(finding.cause && { cause: finding.cause }),
    });
  }

  #originOf(path: ConfigPath): string | undefined {
    for (let length = path.length; length > 0; length--) {
      const origin = this.#origins.get(pathKey(path.slice(0, length)));
      if (origin !== undefined) return origin;
    }
    return undefined;
  }
}

export function pathKey(path: ConfigPath): string {
  return path.join('\n');
}
