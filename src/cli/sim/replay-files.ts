import { createReadStream, statSync, writeFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { QuotameshError } from '../../errors/quotamesh-error.js';

/** Once more from the start, where that is possible. */
export function openFile(file: string): Readable {
  try {
    if (statSync(file).isDirectory()) throw new Error('it is a folder');
    return createReadStream(file, { highWaterMark: 256 * 1024 });
  } catch (error) {
    return cannotRead(file, error as NodeJS.ErrnoException);
  }
}

export function writeHtml(file: string, page: string): void {
  try {
    writeFileSync(file, page);
  } catch (error) {
    throw new QuotameshError('LOG_UNWRITABLE', { path: file, reason: (error as Error).message }, { cause: error });
  }
}

export function cannotRead(file: string, error: NodeJS.ErrnoException): never {
  const reason = error.code === 'ENOENT' ? 'there is no such file' : error.message;
  throw new QuotameshError('CONFIG_UNREADABLE', { file, reason }, { cause: error });
}
