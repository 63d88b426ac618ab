import { QuotameshError } from '../../base/errors/quotamesh-error.js';

/** Version in package.json, with which this topic is tested. */
export const LMDB_VERSION = '3.5.6';

/** Loads LMDB: an addon of 20 MB, an optional peer of this package. */
export async function loadLmdb(): Promise<typeof import('lmdb')> {
  try {
    return await import('lmdb');
  } catch (error) {
    // Other errors are defects of what is installed, and say so.
    if (!isMissing(error)) throw error;
    throw new QuotameshError('TOPIC_PACKAGE_MISSING', { kind: 'embedded', package: 'lmdb', version: LMDB_VERSION });
  }
}

function isMissing(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ERR_MODULE_NOT_FOUND' && message.includes("package 'lmdb'");
}
