import { Worker } from 'node:worker_threads';
import type { ErrorCode } from '../../base/errors/catalogue.js';
import { type ErrorFacts, QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { GroupConfig, ResolvedConfig } from '../resolved/resolved-config.js';
import { ConfigError, type Mistake } from '../setting/config-error.js';
import { configBytes } from './config-files.js';
import { type LoadOptions, loadConfig } from './load-config.js';

export type Loaded =
  | { readonly config: ResolvedConfig }
  | { readonly source: string; readonly mistakes: readonly Mistake[] }
  | { readonly code: ErrorCode; readonly facts: ErrorFacts }
  | { readonly failure: string };

/** About 40 groups, some milliseconds in a process that is warm. A thread takes half a second, but nobody waits for it. */
const HERE_BYTES_MAX = 4 * 1024;

/**
 * Loads as loadConfig; all but small ones beside the event loop. 100 groups take 15 to 50 ms, 10,000 a second, and a
 * node that decides nothing for so long lets everybody wait (`npm run bench:reload`).
 */
export async function loadConfigAside(options: LoadOptions): Promise<ResolvedConfig> {
  return configBytes(options.file) > HERE_BYTES_MAX ? await inThread(options) : await loadConfig(options);
}

async function inThread(options: LoadOptions): Promise<ResolvedConfig> {
  const worker = new Worker(new URL('./load-thread.js', import.meta.url), { workerData: options });
  const loaded = await new Promise<Loaded>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread that reads it has ended, code ${code}`)));
  });
  if ('config' in loaded) return withPlainWeights(loaded.config);
  if ('mistakes' in loaded) throw new ConfigError(loaded.source, loaded.mistakes);
  if ('code' in loaded) throw new QuotameshError(loaded.code, loaded.facts);
  throw new Error(loaded.failure);
}

/** Takes prototypes away again: a node may be called "constructor". A copy between threads has them. */
function withPlainWeights(config: ResolvedConfig): ResolvedConfig {
  const groups = config.groups.map((group) => {
    return { ...group, weights: Object.assign(Object.create(null), group.weights) as GroupConfig['weights'] };
  });
  return { ...config, groups };
}
