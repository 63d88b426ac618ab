import { writeFileSync } from 'node:fs';
import { renderPage } from '../../../sim/page/render-page.js';
import type { RunResult } from '../../../sim/verdict/run-result.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';

export async function writePage(path: string, results: readonly RunResult[]): Promise<void> {
  try {
    writeFileSync(path, renderPage(results));
  } catch (error) {
    throw new QuotameshError('FILE_UNWRITABLE', { path, reason: (error as Error).message }, { cause: error });
  }
}
