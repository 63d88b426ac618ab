import { Worker } from 'node:worker_threads';
import type { ErrorCode } from '../../../base/errors/catalogue.js';
import { type ErrorFacts, QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { configBytes } from '../../../config/files/config-files.js';
import { type LoadedRules, type ReadRules, readRuleFiles, rulesFrom } from './load-rules.js';

export type RulesAside =
  | { readonly read: ReadRules }
  | { readonly code: ErrorCode; readonly facts: ErrorFacts }
  | { readonly failure: string };

/** As in config/files/load-aside.ts: some milliseconds of a process that decides. */
const HERE_BYTES_MAX = 4 * 1024;

/** Loads as loadRules; all but small ones are read beside the event loop. */
export async function loadRulesAside(path: string): Promise<LoadedRules> {
  if (configBytes(path) <= HERE_BYTES_MAX) return rulesFrom(path, readRuleFiles(path));
  const worker = new Worker(new URL('./rules-thread.js', import.meta.url), { workerData: path });
  const loaded = await new Promise<RulesAside>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread that reads them has ended, code ${code}`)));
  });
  if ('read' in loaded) return rulesFrom(path, loaded.read);
  if ('code' in loaded) throw new QuotameshError(loaded.code, loaded.facts);
  throw new Error(loaded.failure);
}
