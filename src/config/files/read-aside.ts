import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { ErrorCode } from '../../base/errors/catalogue.js';
import { type ErrorFacts, messageOf, QuotameshError } from '../../base/errors/quotamesh-error.js';
import { ConfigError, type Mistake } from '../setting/config-error.js';
import { configBytes } from './config-files.js';

/** About 40 groups, some warm milliseconds. A thread takes half a second, but nobody waits for it. */
const HERE_BYTES_MAX = 4 * 1024;

/**
 * Tests if files are read in a thread of their own. 100 groups take 15 to 50 ms, 10,000 a second, and a node that
 * decides nothing for so long lets everybody wait (`npm run bench:reload`).
 */
export function isReadAside(path: string): boolean {
  return configBytes(path) > HERE_BYTES_MAX;
}

/** Returns what a thread reads. Throws as its reading does. @param thread a file that calls `answerAside` */
export async function readAside<Read>(thread: URL, work: unknown): Promise<Read> {
  const worker = new Worker(thread, { workerData: work });
  const answer = await new Promise<Answer<Read>>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread that reads it has ended, code ${code}`)));
  });
  if ('read' in answer) return answer.read;
  if ('mistakes' in answer) throw new ConfigError(answer.source, answer.mistakes, answer.code);
  if ('code' in answer) throw new QuotameshError(answer.code, answer.facts);
  throw new Error(answer.failure);
}

/** Reads in this thread what it was started for, and answers. */
export async function answerAside<Work, Read>(read: (work: Work) => Read | Promise<Read>): Promise<void> {
  parentPort?.postMessage(await answerOf(async () => await read(workerData as Work)));
}

type Answer<Read> =
  | { readonly read: Read }
  | { readonly source: string; readonly mistakes: readonly Mistake[]; readonly code: ConfigError['code'] }
  | { readonly code: ErrorCode; readonly facts: ErrorFacts }
  | { readonly failure: string };

async function answerOf<Read>(read: () => Promise<Read>): Promise<Answer<Read>> {
  try {
    return { read: await read() };
  } catch (error) {
    if (error instanceof ConfigError)
      return { source: String(error.facts.file), mistakes: error.mistakes, code: error.code };
    if (error instanceof QuotameshError) return { code: error.code, facts: error.facts };
    return { failure: messageOf(error) };
  }
}
