import { parentPort, workerData } from 'node:worker_threads';
import { messageOf, QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { readRuleFiles } from './load-rules.js';
import type { RulesAside } from './load-rules-aside.js';

/** The thread of load-rules-aside.ts: reads one folder, and ends. */
parentPort?.postMessage(read(workerData as string));

function read(path: string): RulesAside {
  try {
    return { read: readRuleFiles(path) };
  } catch (error) {
    if (error instanceof QuotameshError) return { code: error.code, facts: error.facts };
    return { failure: messageOf(error) };
  }
}
