import { randomBytes } from 'node:crypto';
import type { RootDatabase } from 'lmdb';
import type { ReadRecord } from '../../base/ports/report-topic.js';
import { invariant } from '../../core/base/invariant.js';
import { DiskRoom } from './disk-room.js';
import { loadLmdb } from './load-lmdb.js';
import { appendMsOfEntry, decodeEntry, isTombstone, keyOfEntry, stampEntry } from './log-entry.js';
import {
  decodeOffset,
  decodeState,
  EMPTY_LOG,
  encodeOffset,
  encodeState,
  ID_KEY,
  LOG_END,
  type LogState,
  logKey,
  newestKey,
  offsetOfKey,
  STATE_KEY,
  TOMBSTONES_END,
  TOMBSTONES_START,
  tombstoneKey,
} from './log-tables.js';
import { advanceLogTime, type MachineClock, machineClock } from './machine-clock.js';

/** Most bytes of a data file of a node. */
export const FILE_BYTES_MAX = 4 * 1024 ** 3;

export interface LogLimits {
  /** Most bytes of the data file, reserved as addresses at once: lmdb leaks a map that it enlarges. */
  readonly fileBytesMax: number;
  /** Milliseconds of log time in the tail. Its superseded records are kept for lagging readers. */
  readonly tailMs: number;
  /** Most records of the tail, whatever `tailMs`. */
  readonly tailRecords: number;
  readonly tailBytes: number;
  /** Milliseconds of log time that a tombstone stays behind the tail; less above `tailRecords`. */
  readonly tombstoneKeepMs: number;
}

/** Steps of the tail per appended record: 2 keeps up with twice the rate. */
const TAIL_STEPS_PER_RECORD = 2;
const TAIL_STEPS_MIN = 16;
const TOMBSTONES_PER_COMMIT = 16;
/** Milliseconds between checks for killed readers: their snapshots grow the file by 3 MB/s. */
const READER_CHECK_MS = 5000;

/** Most bytes that a commit adds: COMMIT_BYTES_MAX of append-queue.ts, and pages of the trees. */
const ROOM_BYTES = 8 * 1024 * 1024;

export interface LogStoreOptions {
  /** True = every commit is synced to the disk; default false. */
  readonly durable?: boolean;
  /** Clock; default: this machine's. */
  readonly clock?: MachineClock;
}

interface FileStats {
  readonly lastPageNumber: number;
  readonly pageSize: number;
}

/** Marks a data file at its bound. */
export class LogFull extends Error {
  constructor(fileBytesMax: number) {
    super(`the data file has reached ${fileBytesMax} bytes`);
    this.name = 'LogFull';
  }
}

/**
 * Keeps the ordered, compacted log in one LMDB file: the newest record of every key, and the tail. Each commit moves
 * the tail by some records, so nobody starts a compaction. The file is not synced (`noSync`): a commit survives `kill
 * -9`, not a loss of power, after which the file may be damaged; topic-folder.ts opens none of an earlier boot. *Why:*
 * a commit takes 0.26 ms; a disk that syncs in 5 ms could not follow three nodes, and `overlappingSync` would bring a
 * second lock. Only a `durable` log is synced: the registry's.
 */
export class LogStore {
  /** Id of this log, unique and constant. */
  readonly id: string;
  readonly #db: RootDatabase<Buffer, Buffer>;
  readonly #limits: LogLimits;
  readonly #clock: MachineClock;
  readonly #disk: DiskRoom;
  #readersCheckedAt = performance.now();

  private constructor(
    db: RootDatabase<Buffer, Buffer>,
    id: string,
    limits: LogLimits,
    clock: MachineClock,
    disk: DiskRoom,
  ) {
    this.id = id;
    this.#db = db;
    this.#limits = limits;
    this.#clock = clock;
    this.#disk = disk;
  }

  /** Opens the log. Takes LMDB's locks: call it only inside the CommitGate. */
  static async open(
    file: string,
    limits: LogLimits,
    { durable = false, clock }: LogStoreOptions = {},
  ): Promise<LogStore> {
    const { open } = await loadLmdb();
    const db: RootDatabase<Buffer, Buffer> = open({
      path: file,
      noSubdir: true,
      keyEncoding: 'binary',
      encoding: 'binary',
      mapSize: limits.fileBytesMax,
      noSync: !durable,
      overlappingSync: false,
      // Off: lmdb would make a promise per turn that nobody awaits, and a full disk would end the process.
      eventTurnBatching: false,
    });
    const id = await idOf(db);
    const store = new LogStore(db, id, limits, clock ?? (await machineClock()), new DiskRoom(file));
    // The first read claims a reader slot under a lock; later ones take none.
    store.endOffset();
    return store;
  }

  endOffset(): number {
    return this.#snapshot(() => this.#state().endOffset);
  }

  /** Returns records from `offset` on, up to both limits; `more` = there may be further ones. */
  read(offset: number, recordsMax: number, bytesMax: number): { records: ReadRecord[]; more: boolean } {
    return this.#snapshot(() => {
      const records: ReadRecord[] = [];
      let bytes = 0;
      for (const { key, value } of this.#db.getRange({ start: logKey(offset), end: LOG_END })) {
        records.push(decodeEntry(offsetOfKey(key), value));
        bytes += value.length;
        if (records.length >= recordsMax || bytes >= bytesMax) return { records, more: true };
      }
      return { records, more: false };
    });
  }

  /** Writes all entries in one transaction, or none. Call it only inside the CommitGate. */
  async append(entries: readonly Buffer[]): Promise<void> {
    this.#clearDeadReaders();
    this.#disk.check(entries);
    this.#refuseFull();
    let cause: unknown;
    try {
      // Not `transaction`: if its callback throws, lmdb commits what was done.
      await this.#db.childTransaction(() => {
        try {
          this.#appendInTransaction(entries);
        } catch (error) {
          cause = error;
          throw error;
        }
      });
    } catch (error) {
      // lmdb's reason is a promise; unobserved, it would be an unhandled rejection.
      const reason = (error as { commitError?: Promise<never> }).commitError?.catch((commitError) => commitError);
      this.#disk.commitFailed();
      throw cause ?? (await reason) ?? error;
    }
  }

  /** Closes. Call it only inside the CommitGate, without an append under way. */
  async close(): Promise<void> {
    await this.#db.close();
  }

  #appendInTransaction(entries: readonly Buffer[]): void {
    this.#disk.claim(entries, () => this.#usedBytes());
    const state = this.#state();
    advanceLogTime(state, this.#clock);
    for (const entry of entries) this.#appendEntry(state, entry);
    this.#moveTail(state, TAIL_STEPS_MIN + TAIL_STEPS_PER_RECORD * entries.length);
    this.#removeOldTombstones(state);
    this.#db.put(STATE_KEY, encodeState(state));
  }

  #appendEntry(state: LogState, entry: Buffer): void {
    const offset = state.endOffset++;
    const newest = newestKey(keyOfEntry(entry));
    const superseded = this.#newestOffset(newest);
    // Superseded inside the tail, a record stays until the tail has passed it.
    if (superseded !== undefined && superseded < state.tailStart) this.#remove(state, superseded);
    stampEntry(entry, state.lastAppendMs);
    this.#db.put(logKey(offset), entry);
    this.#db.put(newest, encodeOffset(offset));
    state.tailBytes += entry.length;
  }

  #moveTail(state: LogState, stepsMax: number): void {
    const { tailMs, tailRecords, tailBytes } = this.#limits;
    for (let step = 0; step < stepsMax && state.tailStart < state.endOffset; step++) {
      const offset = state.tailStart;
      const entry = this.#entryAt(offset);
      const tooMany = state.endOffset - offset > tailRecords || state.tailBytes > tailBytes;
      if (!tooMany && state.lastAppendMs - appendMsOfEntry(entry) <= tailMs) return;
      state.tailStart++;
      state.tailBytes -= entry.length;
      if (this.#newestOffset(newestKey(keyOfEntry(entry))) !== offset) {
        this.#db.remove(logKey(offset));
      } else if (isTombstone(entry)) {
        this.#db.put(tombstoneKey(offset), Buffer.alloc(1));
        state.tombstones++;
      }
    }
  }

  #removeOldTombstones(state: LogState): void {
    const table = { start: TOMBSTONES_START, end: TOMBSTONES_END, limit: TOMBSTONES_PER_COMMIT };
    for (const key of [...this.#db.getKeys(table)]) {
      const offset = offsetOfKey(key);
      const entry = this.#entryAt(offset);
      const tooMany = state.tombstones > this.#limits.tailRecords;
      if (!tooMany && state.lastAppendMs - appendMsOfEntry(entry) <= this.#limits.tombstoneKeepMs) return;
      this.#db.remove(newestKey(keyOfEntry(entry)));
      this.#remove(state, offset);
    }
  }

  #remove(state: LogState, offset: number): void {
    if (isTombstone(this.#entryAt(offset))) {
      this.#db.remove(tombstoneKey(offset));
      state.tombstones--;
    }
    this.#db.remove(logKey(offset));
  }

  #entryAt(offset: number): Buffer {
    const entry = this.#db.get(logKey(offset));
    invariant(entry !== undefined, 'an entry of the log is missing', { offset });
    return entry;
  }

  #newestOffset(key: Buffer): number | undefined {
    const value = this.#db.get(key);
    return value && decodeOffset(value);
  }

  #state(): LogState {
    const value = this.#db.get(STATE_KEY);
    return value ? decodeState(value) : { ...EMPTY_LOG };
  }

  /** Reads the newest commit, and lets go of it: a held snapshot keeps old pages from reuse. */
  #snapshot<T>(read: () => T): T {
    this.#db.resetReadTxn();
    try {
      return read();
    } finally {
      this.#db.resetReadTxn();
    }
  }

  /** Throws LogFull where lmdb would grow the file. */
  #refuseFull(): void {
    const { fileBytesMax } = this.#limits;
    if (this.#snapshot(() => this.#usedBytes()) > fileBytesMax - ROOM_BYTES) throw new LogFull(fileBytesMax);
  }

  #usedBytes(): number {
    const { lastPageNumber, pageSize } = this.#db.getStats() as FileStats;
    return (lastPageNumber + 1) * pageSize;
  }

  /** Frees slots of killed processes, as lmdb does every 10 minutes: their snapshots grow the file. */
  #clearDeadReaders(): void {
    const now = performance.now();
    if (now - this.#readersCheckedAt < READER_CHECK_MS) return;
    this.#readersCheckedAt = now;
    this.#db.readerCheck();
  }
}

const ID_BYTES = 9;

/** Gives the log an id, if it has none. Call it only inside the CommitGate. */
async function idOf(db: RootDatabase<Buffer, Buffer>): Promise<string> {
  const known = db.get(ID_KEY);
  const id = known ?? randomBytes(ID_BYTES);
  if (known === undefined) await db.put(ID_KEY, id);
  return id.toString('base64url');
}
