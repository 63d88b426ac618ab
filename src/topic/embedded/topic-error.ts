import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { isDiskFull } from './disk-room.js';
import { LogFull } from './log-store.js';

const DENIED = new Set(['EACCES', 'EPERM', 'EROFS']);
/** Errors that do not pass by themselves: a file where the folder should be, a data file that LMDB does not accept. */
const UNUSABLE = new Set(['ENOTDIR', 'EEXIST', 'EISDIR', 'ENAMETOOLONG', 'ELOOP']);
const UNUSABLE_LMDB = /MDB_(INVALID|VERSION_MISMATCH|CORRUPTED|PAGE_NOTFOUND|PANIC)/;

/** Turns whatever the file system or LMDB throws into an error of the catalogue. */
export function toTopicError(topic: string, error: unknown): QuotameshError {
  if (error instanceof QuotameshError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const facts = { topic, reason: message };
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

/** Whether trying again may help although nobody changes the topic. */
export function mayPass({ code }: QuotameshError): boolean {
  return code === 'TOPIC_UNREACHABLE' || code === 'TOPIC_DISK_FULL';
}

export function topicClosed(topic: string): QuotameshError {
  return new QuotameshError('TOPIC_CLOSED', { topic });
}
