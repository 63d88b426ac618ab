import { dirname, resolve } from 'node:path';
import { QuotameshError } from '../errors.js';
import { ConfigError, formatPath, type Mistake } from './config-error.js';
import type { ConfigOverrides, Environment } from './environment.js';
import { type ParsedYaml, parseYaml } from './parse-yaml.js';
import { readTextFile } from './read-text-file.js';
import { examineConfig } from './resolve-config.js';
import type { ResolvedConfig } from './resolved-config.js';

export interface LoadOptions {
  readonly file: string;
  /** `QUOTAMESH_…` variables are read from here; without it, none are. */
  readonly env?: Environment | undefined;
  readonly overrides?: ConfigOverrides | undefined;
}

/**
 * Reads a YAML file, lays environment and flags over it (flag > environment > file > default) and checks everything.
 * Rejects with a ConfigError that holds every mistake, or CONFIG_UNREADABLE.
 */
export async function loadConfig({ file, env, overrides }: LoadOptions): Promise<ResolvedConfig> {
  const parsed = parseYaml(readConfigFile(file));
  const ownMistakes = parsed.mistakes.map((mistake) => mistakeOf(file, mistake));
  if (!parsed.readable) throw new ConfigError(file, ownMistakes);
  const { config, mistakes } = examineConfig(parsed.raw, {
    source: file,
    folder: dirname(resolve(file)),
    env,
    overrides,
    locate: parsed.locate,
  });
  const all = [...ownMistakes, ...mistakes];
  if (config === null || all.length > 0) throw new ConfigError(file, all);
  return config;
}

/** About 90,000 groups; parsing that takes seconds. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;

function readConfigFile(file: string): string {
  try {
    return readTextFile(file, FILE_BYTES_MAX);
  } catch (error) {
    throw new QuotameshError('CONFIG_UNREADABLE', { file, reason: (error as Error).message }, { cause: error });
  }
}

function mistakeOf(file: string, { path, place, ...finding }: ParsedYaml['mistakes'][number]): Mistake {
  return { file, ...place, path: formatPath(path), ...finding };
}
