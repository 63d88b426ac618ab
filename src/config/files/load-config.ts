import { dirname, resolve } from 'node:path';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ConfigOverrides, Environment } from '../read/environment.js';
import { readTextFile } from '../read/read-text-file.js';
import { examineConfig } from '../read/resolve-config.js';
import type { ResolvedConfig } from '../resolved/resolved-config.js';
import { ConfigError } from '../setting/config-error.js';
import { mergeFiles, type ParsedFile } from '../yaml/merge-files.js';
import { parseYaml } from '../yaml/parse-yaml.js';
import { configFiles, configStamp, isFolder } from './config-files.js';

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
  const files = readConfigFiles(file);
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

/** About 90,000 groups; parsing that takes seconds. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;

/** Most readings of files that change meanwhile: a ConfigMap is swapped once a minute at most. */
const READS_MAX = 5;

/** Reads all files as they were at one moment: a folder whose files are swapped meanwhile is read again. */
function readConfigFiles(path: string): readonly ParsedFile[] {
  for (let reads = 1; ; reads++) {
    const stamp = configStamp(path);
    const texts = readTexts(path);
    if (texts.length > 1 && configStamp(path) !== stamp && reads < READS_MAX) continue;
    return texts.map(({ file, text }) => ({ file, parsed: parseYaml(text) }));
  }
}

function readTexts(path: string): { readonly file: string; readonly text: string }[] {
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
