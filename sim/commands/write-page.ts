import { writeFileSync } from 'node:fs';
import { QuotameshError } from '../../src/base/errors/quotamesh-error.js';
import { renderPage } from '../page/render-page.js';
import type { RunResult } from '../verdict/run-result.js';

export async function writePage(path: string, results: readonly RunResult[]): Promise<void> {
  try {
    writeFileSync(path, renderPage(results));
  } catch (error) {
    throw new QuotameshError('FILE_UNWRITABLE', { path, reason: (error as Error).message }, { cause: error });
  }
}
