import { dirname, resolve } from 'node:path';
import type { ConfigOverrides, Environment } from '../read/environment.js';
import { examineConfig } from '../read/resolve-config.js';
import type { ResolvedConfig } from '../resolved/resolved-config.js';
import { ConfigError } from '../setting/config-error.js';
import { mergeFiles } from '../yaml/merge-files.js';
import { parseYaml } from '../yaml/parse-yaml.js';
import { isFolder, readConfigFiles } from './config-files.js';

export interface LoadOptions {
  /** Or a folder: all its .yaml and .yml files together. */
  readonly file: string;
  /** `QUOTAMESH_…` variables are read from here; without it, none are. */
  readonly env?: Environment | undefined;
  readonly overrides?: ConfigOverrides | undefined;
}

/**
 * Reads YAML, lays environment and flags over it, and checks everything. Flag > environment > file > default. Rejects
 * with a ConfigError that holds every mistake, or CONFIG_UNREADABLE.
 */
export async function loadConfig({ file, env, overrides }: LoadOptions): Promise<ResolvedConfig> {
  const files = readConfigFiles(file).map((one) => ({ file: one.file, parsed: parseYaml(one.text) }));
  const { raw, locate, mistakes: ownMistakes } = mergeFiles(files);
  if (!files.every(({ parsed }) => parsed.readable)) throw new ConfigError(file, ownMistakes);
  const { config, mistakes } = examineConfig(raw, {
    source: file,
    folder: isFolder(file) ? resolve(file) : dirname(resolve(file)),
    env,
    overrides,
    locate,
  });
  const all = [...ownMistakes, ...mistakes];
  if (config === null || all.length > 0) throw new ConfigError(file, all);
  return config;
}
