import { parentPort, workerData } from 'node:worker_threads';
import { messageOf, QuotameshError } from '../../base/errors/quotamesh-error.js';
import { ConfigError } from '../setting/config-error.js';
import type { Loaded } from './load-aside.js';
import { type LoadOptions, loadConfig } from './load-config.js';

/** The thread of load-aside.ts: reads one configuration, and ends. */
parentPort?.postMessage(await load(workerData as LoadOptions));

async function load(options: LoadOptions): Promise<Loaded> {
  try {
    return { config: await loadConfig(options) };
  } catch (error) {
    if (error instanceof ConfigError) return { source: options.file, mistakes: error.mistakes };
    if (error instanceof QuotameshError) return { code: error.code, facts: error.facts };
    return { failure: messageOf(error) };
  }
}
