import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { isDiskFull } from './disk-room.js';
import { LogFull } from './log-store.js';

const DENIED = new Set(['EACCES', 'EPERM', 'EROFS']);
/** Errors that stay: a file where the folder should be, a data file that LMDB rejects. */
const UNUSABLE = new Set(['ENOTDIR', 'EEXIST', 'EISDIR', 'ENAMETOOLONG', 'ELOOP']);
const UNUSABLE_LMDB = /MDB_(INVALID|VERSION_MISMATCH)/;
const DAMAGED_LMDB = /MDB_(CORRUPTED|PAGE_NOTFOUND|PANIC)/;

/** Turns errors of file system and LMDB into the catalogue's. */
export function toTopicError(topic: string, error: unknown): QuotameshError {
  if (error instanceof QuotameshError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const facts = { topic, reason: message };
  if (DAMAGED_LMDB.test(message)) return damagedLog(topic, message, error);
  if (isDiskFull(error)) return new QuotameshError('TOPIC_DISK_FULL', facts, { cause: error });
  if (error instanceof LogFull) return new QuotameshError('TOPIC_FULL', facts, { cause: error });
  if (DENIED.has(String(code)) || /permission denied/i.test(message)) {
    return new QuotameshError('TOPIC_DENIED', facts, { cause: error });
  }
  if (UNUSABLE.has(String(code)) || UNUSABLE_LMDB.test(message)) {
    return new QuotameshError('TOPIC_SETTINGS', facts, { cause: error });
  }
  return new QuotameshError('TOPIC_UNREACHABLE', facts, { cause: error });
}

export function damagedLog(topic: string, reason: string, cause?: unknown): QuotameshError {
  return new QuotameshError('TOPIC_DAMAGED', { topic, reason }, { cause });
}

/** Tests if trying again may help without a change of the topic. */
export function mayPass({ code }: QuotameshError): boolean {
  return code === 'TOPIC_UNREACHABLE' || code === 'TOPIC_DISK_FULL';
}

export function topicClosed(topic: string): QuotameshError {
  return new QuotameshError('TOPIC_CLOSED', { topic });
}
