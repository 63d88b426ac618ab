import { createReadStream, statSync, writeFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { QuotameshError } from '../../src/base/errors/quotamesh-error.js';
import { RECORDING_MAGIC } from '../../src/topic/recording/recording-format.js';
import { peeked } from '../replay/peeked.js';

/** Opens standard input (`-`) or a file; its first bytes show the kind. */
export async function openRecorded(file: string): Promise<{ readonly bytes: Readable; readonly isRecording: boolean }> {
  const input = file === '-' ? process.stdin : openFile(file);
  const opened = peeked(input, (head) => head.length >= RECORDING_MAGIC.length);
  const { bytes, head } = await opened.catch((error: Error) => cannotRead(file, error));
  return { bytes, isRecording: head.subarray(0, RECORDING_MAGIC.length).equals(RECORDING_MAGIC) };
}

/** Tests for a file that can be read twice; pipes cannot. */
export function isRegularFile(file: string): boolean {
  return file !== '-' && statSync(file).isFile();
}

/** Opens a file once more, from its start. */
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
    throw new QuotameshError('FILE_UNWRITABLE', { path: file, reason: (error as Error).message }, { cause: error });
  }
}

function cannotRead(file: string, error: NodeJS.ErrnoException): never {
  const reason = error.code === 'ENOENT' ? 'there is no such file' : error.message;
  throw new QuotameshError('CONFIG_UNREADABLE', { file, reason }, { cause: error });
}
