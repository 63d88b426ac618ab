import { describe, expect, test } from 'vitest';
import { QuotameshError } from '../../../src/base/errors/quotamesh-error.js';
import { DiskFull } from '../../../src/topic/embedded/disk-room.js';
import { LogFull } from '../../../src/topic/embedded/log-store.js';
import { mayPass, topicClosed, toTopicError } from '../../../src/topic/embedded/topic-error.js';

function systemError(code: string, message = 'what the system says'): Error {
  return Object.assign(new Error(message), { code });
}

/** What it is told as, and whether a node goes on trying by itself. */
describe('what file system and LMDB say', () => {
  test.each<[what: string, error: unknown, code: string, isRetried: boolean]>([
    ['no space', systemError('ENOSPC'), 'TOPIC_DISK_FULL', true],
    ['a quota', systemError('EDQUOT'), 'TOPIC_DISK_FULL', true],
    ['a limit of file sizes', systemError('EFBIG'), 'TOPIC_DISK_FULL', true],
    ['no space, in LMDB’s words', new Error('Commit failed: No space left on device'), 'TOPIC_DISK_FULL', true],
    ['a quota, in LMDB’s words', new Error('Disk quota exceeded'), 'TOPIC_DISK_FULL', true],
    ['a limit, in LMDB’s words', new Error('File too large'), 'TOPIC_DISK_FULL', true],
    ['too little room for a commit', new DiskFull('10 bytes are free'), 'TOPIC_DISK_FULL', true],
    ['the bound of the file', new LogFull(1024), 'TOPIC_FULL', false],
    ['no permission', systemError('EACCES'), 'TOPIC_DENIED', false],
    ['an owner’s permission', systemError('EPERM'), 'TOPIC_DENIED', false],
    ['read only', systemError('EROFS'), 'TOPIC_DENIED', false],
    ['no permission, in LMDB’s words', new Error('Permission denied'), 'TOPIC_DENIED', false],
    ['a file on the way', systemError('ENOTDIR'), 'TOPIC_SETTINGS', false],
    ['a file in its place', systemError('EEXIST'), 'TOPIC_SETTINGS', false],
    ['another format of LMDB', new Error('MDB_VERSION_MISMATCH: Database version'), 'TOPIC_SETTINGS', false],
    ['a page that is missing', new Error('MDB_PAGE_NOTFOUND: Requested page'), 'TOPIC_DAMAGED', false],
    ['anything else', systemError('EMFILE'), 'TOPIC_UNREACHABLE', true],
    ['an error without a code', new Error('who knows'), 'TOPIC_UNREACHABLE', true],
  ])('%s', (_, error, code, isRetried) => {
    const told = toTopicError('/the/folder', error);
    expect([told.code, mayPass(told)]).toEqual([code, isRetried]);
    expect(told.cause).toBe(error);
    expect(told.message).toContain('/the/folder');
    expect(told.message).toContain((error as Error).message);
  });

  test('an error of the catalogue is told as it is', () => {
    const known = topicClosed('/the/folder');
    expect(toTopicError('/another', known)).toBe(known);
    expect(known).toBeInstanceOf(QuotameshError);
    expect([known.code, mayPass(known)]).toEqual(['TOPIC_CLOSED', false]);
  });
});
