import { statSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { AppendQueue, type AppendQueueOptions } from './append-queue.js';
import { CommitGate } from './commit-gate.js';
import { DiskFull, DiskRoom } from './disk-room.js';
import { findDamage } from './find-damage.js';
import { type FollowerListener, LogFollower } from './log-follower.js';
import { type LogLimits, LogStore } from './log-store.js';
import { PidClaim } from './pid-claim.js';
import { makeFile } from './private-folder.js';
import { damagedLog } from './topic-error.js';
import { claimTopicFolder, makeTopicFolder, type TopicFolder } from './topic-folder.js';

/** Milliseconds for the transaction under way; with the gate's, below the port's 2 s. */
const CLOSE_COMMIT_GRACE_MS = 1200;
const CLOSE_GATE_GRACE_MS = 400;

export interface OpenLogOptions {
  readonly path: string;
  readonly durable: boolean;
  readonly limits: LogLimits;
  /** Inode of the lock file that this process opened before; see `open`. */
  readonly staleLockFile: number | null;
  readonly signal: AbortSignal;
}

export interface OpenLogListener extends FollowerListener, Pick<AppendQueueOptions, 'onAppendFailed' | 'onLost'> {
  onCommitted(records: number, bytes: number): void;
}

export class OpenLog {
  readonly queue: AppendQueue;
  readonly follower: LogFollower;
  /** Inode of LMDB's lock file, its table of readers. */
  readonly lockFile: number;
  readonly #store: LogStore;
  readonly #gate: CommitGate;
  readonly #claim: PidClaim | null;

  private constructor(
    store: LogStore,
    { gate, claim }: { readonly gate: CommitGate; readonly claim: PidClaim | null },
    files: { readonly folder: TopicFolder; readonly inode: number; readonly lockFile: number },
    { path, appendTimeoutMs }: { readonly path: string; readonly appendTimeoutMs: number },
    listener: OpenLogListener,
  ) {
    const { folder, inode, lockFile } = files;
    this.#store = store;
    this.#gate = gate;
    this.#claim = claim;
    this.lockFile = lockFile;
    const follower = new LogFollower(store, { topic: path, dataFile: folder.dataFile, inode }, listener);
    this.follower = follower;
    // A walk through the trees holds the gate: one for each failure, until a commit works.
    let examined: string | null = null;
    this.queue = new AppendQueue({
      topic: path,
      appendTimeoutMs,
      gate,
      commit: async (entries) => {
        if (follower.failure) throw follower.failure;
        // An acknowledged record must be in the log that everybody reads.
        if (!isFile(folder.dataFile, inode)) {
          follower.replaced();
          const reason = 'its data file was removed or replaced while in use';
          throw new QuotameshError('TOPIC_UNREACHABLE', { topic: path, reason });
        }
        await store.append(entries).catch(async (error: Error) => {
          if (error instanceof DiskFull || error.message === examined) throw error;
          examined = error.message;
          // LMDB tells some damages as something else, and prints lines to standard error each time.
          const damage = await findDamage(folder.dataFile);
          if (damage === undefined) throw error;
          const failure = damagedLog(path, `${folder.dataFile}: ${damage}`, error);
          follower.fail(failure);
          throw failure;
        });
      },
      onCommitted: (records, bytes) => {
        examined = null;
        listener.onCommitted(records, bytes);
        follower.read();
      },
      onAppendFailed: () => listener.onAppendFailed(),
      onLost: (reason) => listener.onLost(reason),
    });
  }

  /** Opens the log, in a folder made if missing; undefined = aborted. Rejects with errors of disk or LMDB. */
  static async open(
    { path, durable, limits, staleLockFile, signal }: OpenLogOptions,
    appendTimeoutMs: number,
    listener: OpenLogListener,
  ): Promise<OpenLog | undefined> {
    const folder = await makeTopicFolder(path, durable);
    const gate = new CommitGate(folder.gateName);
    const hold = await gate.enter(signal);
    if (!hold) return undefined;
    let claim: PidClaim | null = null;
    try {
      claim = await PidClaim.take(folder.path);
      // On a full disk the table of readers would be a hole, and its first use a bus error.
      new DiskRoom(folder.dataFile).check([]);
      await claimTopicFolder(folder);
      const lockPath = `${folder.dataFile}-lock`;
      // The old table lists a gone file's transactions; the first process to open the new file removes it.
      if (staleLockFile !== null && isFile(lockPath, staleLockFile)) await rm(lockPath);
      // LMDB would make them readable for everybody.
      for (const file of [folder.dataFile, lockPath]) await makeFile(file, folder.fileMode);
      const store = await LogStore.open(folder.dataFile, limits, { durable });
      const [{ ino: inode }, { ino: lockFile }] = [await stat(folder.dataFile), await stat(lockPath)];
      return new OpenLog(store, { gate, claim }, { folder, inode, lockFile }, { path, appendTimeoutMs }, listener);
    } catch (error) {
      await claim?.release();
      throw error;
    } finally {
      hold.leave();
    }
  }

  /** Rejects waiting appends with `failure`; waits a bounded time for transaction and gate. */
  async close(failure: (topic: string) => QuotameshError): Promise<void> {
    this.follower.stop();
    await this.queue.close(CLOSE_COMMIT_GRACE_MS, failure);
    if (this.queue.busy) {
      exitByForceWhile(() => this.queue.busy);
      return;
    }
    // Closing takes LMDB's locks; if another process is frozen inside, the end of this one closes the file.
    const hold = await this.#gate.enter(AbortSignal.timeout(CLOSE_GATE_GRACE_MS));
    if (!hold) return;
    await this.#store.close();
    hold.leave();
    await this.#claim?.release();
  }
}

/** Tests if a path leads to this inode: while open, no other file gets it. */
function isFile(path: string, inode: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === inode;
}

/**
 * Kills this process at its exit if a transaction hangs. `process.exit` would wait for its thread, which waits for
 * LMDB's lock. The gate prevents it among our processes: it takes a foreign program frozen inside the file, or other
 * network namespaces.
 */
function exitByForceWhile(stuck: () => boolean): void {
  process.once('exit', () => {
    if (stuck()) process.kill(process.pid, 'SIGKILL');
  });
}
