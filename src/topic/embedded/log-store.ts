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

export interface LogLimits {
  /**
   * The data file may not grow beyond this. So much address space is reserved at once, because lmdb leaks a map when it
   * makes one larger.
   */
  readonly fileBytesMax: number;
  /**
   * How far back in the log's time the tail begins. Records in the tail are kept even when they are superseded, for
   * readers that lag.
   */
  readonly tailMs: number;
  /** The most records that the tail keeps, also where they are younger than `tailMs`. */
  readonly tailRecords: number;
  readonly tailBytes: number;
  /**
   * A tombstone behind the tail is removed after this much of the log's time, or earlier when there are more than
   * `tailRecords`.
   */
  readonly tombstoneKeepMs: number;
}

/** How many steps the tail may move per appended record: 2 keeps up with twice the rate of appends. */
const TAIL_STEPS_PER_RECORD = 2;
const TAIL_STEPS_MIN = 16;
const TOMBSTONES_PER_COMMIT = 16;
/**
 * How often slots of killed readers are freed. The snapshot of a killed reader lets the file grow by up to 3 MB per
 * second at 200 commits a second (measured); a check takes a microsecond or two.
 */
const READER_CHECK_MS = 5000;

/** The most bytes that one commit may add: COMMIT_BYTES_MAX of append-queue.ts, and pages of the trees. */
const ROOM_BYTES = 8 * 1024 * 1024;

export interface LogStoreOptions {
  /** True = every commit is synced to the disk; default false. */
  readonly durable?: boolean;
  /** Default: this machine's. */
  readonly clock?: MachineClock;
}

interface FileStats {
  readonly lastPageNumber: number;
  readonly pageSize: number;
}

/** The data file has reached its bound. */
export class LogFull extends Error {
  constructor(fileBytesMax: number) {
    super(`the data file has reached ${fileBytesMax} bytes`);
    this.name = 'LogFull';
  }
}

/**
 * The ordered, compacted log in one LMDB file. It keeps the newest record of every key, and all records of the tail.
 * Writers move the tail forward by a few records with each commit, so nobody has to start a compaction.
 *
 * The file is not synced to the disk (`noSync`). A commit is in the page cache, so it survives `kill -9` of any
 * process, but not a loss of power. After that the file may be damaged, so topic-folder.ts never opens a file of an
 * earlier boot. A commit takes 0.26 ms in this way, and 0.41 ms with a sync on a disk that acknowledges one in 0.15 ms;
 * a disk that needs 5 ms could not follow three nodes that report every 50 ms. lmdb's `overlappingSync` would also
 * bring a second lock. Only a `durable` log is synced: that of the registry, which is written when people change
 * groups.
 */
export class LogStore {
  /** The id of this log. It never changes, and every log has another one. */
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

  /** Takes LMDB's locks, so call it only inside the CommitGate. */
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
      // Switched off: with it, lmdb makes a promise in every turn of the event loop that appends, and nobody awaits
      // that promise, so a full disk would end the process. There is one transaction at a time anyway.
      eventTurnBatching: false,
    });
    const id = await idOf(db);
    const store = new LogStore(db, id, limits, clock ?? (await machineClock()), new DiskRoom(file));
    // The first read claims this process's slot in the reader table, under a lock; later reads take no lock.
    store.endOffset();
    return store;
  }

  endOffset(): number {
    return this.#snapshot(() => this.#state().endOffset);
  }

  /** Returns records in order from `offset` on, up to both limits; `more` = there may be further ones. */
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
    await this.#disk.check(entries, this.#usedBytes());
    let cause: unknown;
    try {
      // Not `transaction`: if its callback throws, lmdb commits what was done before.
      await this.#db.childTransaction(() => {
        try {
          this.#appendInTransaction(entries);
        } catch (error) {
          cause = error;
          throw error;
        }
      });
    } catch (error) {
      // lmdb hands over why a commit failed as a promise; if nobody observed it, it would be an unhandled rejection.
      const reason = (error as { commitError?: Promise<never> }).commitError?.catch((commitError) => commitError);
      this.#disk.commitFailed();
      throw cause ?? (await reason) ?? error;
    }
  }

  /** Call it only inside the CommitGate, and when no append is under way. */
  async close(): Promise<void> {
    await this.#db.close();
  }

  #appendInTransaction(entries: readonly Buffer[]): void {
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
    // A superseded record inside the tail stays until the tail has passed it.
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

  /** Removes an entry behind the tail. */
  #remove(state: LogState, offset: number): void {
    if (isTombstone(this.#entryAt(offset))) {
      this.#db.remove(tombstoneKey(offset));
      state.tombstones--;
    }
    this.#db.remove(logKey(offset));
  }

  /** Returns an entry that must exist: one of the tail, the newest of a key, or one that table T lists. */
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

  /**
   * Reads the newest commit of any process, and lets go of it at once, because a held snapshot keeps old pages from
   * reuse.
   */
  #snapshot<T>(read: () => T): T {
    this.#db.resetReadTxn();
    try {
      return read();
    } finally {
      this.#db.resetReadTxn();
    }
  }

  /** Throws LogFull where lmdb would just let the file grow. */
  #usedBytes(): number {
    const { lastPageNumber, pageSize } = this.#snapshot(() => this.#db.getStats() as FileStats);
    const { fileBytesMax } = this.#limits;
    const usedBytes = (lastPageNumber + 1) * pageSize;
    if (usedBytes > fileBytesMax - ROOM_BYTES) throw new LogFull(fileBytesMax);
    return usedBytes;
  }

  /**
   * Frees the slots of killed processes, whose snapshots would make the file grow. lmdb itself does so every 10
   * minutes.
   */
  #clearDeadReaders(): void {
    const now = performance.now();
    if (now - this.#readersCheckedAt < READER_CHECK_MS) return;
    this.#readersCheckedAt = now;
    this.#db.readerCheck();
  }
}

const ID_BYTES = 9;

/** Gives the log an id if it has none. Call it only inside the CommitGate, so that nobody else gives it another one. */
async function idOf(db: RootDatabase<Buffer, Buffer>): Promise<string> {
  const known = db.get(ID_KEY);
  const id = known ?? randomBytes(ID_BYTES);
  if (known === undefined) await db.put(ID_KEY, id);
  return id.toString('base64url');
}
