import { statSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { AppendQueue, type AppendQueueOptions } from './append-queue.js';
import { CommitGate } from './commit-gate.js';
import { DiskRoom } from './disk-room.js';
import { type FollowerListener, LogFollower } from './log-follower.js';
import { type LogLimits, LogStore } from './log-store.js';
import { PidClaim } from './pid-claim.js';
import { makeFile } from './private-folder.js';
import { claimTopicFolder, makeTopicFolder, type TopicFolder } from './topic-folder.js';

/**
 * How long closing waits for the transaction under way, and for the gate. Together the two stay below the 2 s that the
 * port promises.
 */
const CLOSE_COMMIT_GRACE_MS = 1200;
const CLOSE_GATE_GRACE_MS = 400;

export interface OpenLogOptions {
  readonly path: string;
  readonly durable: boolean;
  readonly limits: LogLimits;
  /** Inode of the lock file of the log that this process had open before under the same name; see `open`. */
  readonly staleLockFile: number | null;
  readonly signal: AbortSignal;
}

export interface OpenLogListener extends FollowerListener, Pick<AppendQueueOptions, 'onAppendFailed' | 'onLost'> {
  onCommitted(records: number, bytes: number): void;
}

/** One data file while it is open, with its reader and its writer. */
export class OpenLog {
  readonly queue: AppendQueue;
  readonly follower: LogFollower;
  /** Inode of LMDB's lock file, which holds its table of readers. */
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
    this.queue = new AppendQueue({
      topic: path,
      appendTimeoutMs,
      gate,
      commit: async (entries) => {
        // An acknowledged record must be in the log that everybody reads, and not in a file that has lost its name.
        if (!isFile(folder.dataFile, inode)) {
          follower.replaced();
          const reason = 'its data file was removed or replaced while in use';
          throw new QuotameshError('TOPIC_UNREACHABLE', { topic: path, reason });
        }
        await store.append(entries);
      },
      onCommitted: (records, bytes) => {
        listener.onCommitted(records, bytes);
        follower.read();
      },
      onAppendFailed: () => listener.onAppendFailed(),
      onLost: (reason) => listener.onLost(reason),
    });
  }

  /**
   * Opens the log, and makes its folder if it is missing. Resolves with undefined if the signal is aborted, and rejects
   * with the error of the file system or of LMDB.
   */
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
      // On a full disk LMDB's table of readers would be a hole in its file, and the first use of it a bus error.
      await new DiskRoom(folder.dataFile).check([], 0);
      await claimTopicFolder(folder);
      const lockPath = `${folder.dataFile}-lock`;
      // The old table lists transactions in a file that is gone. The first process that opens the new file removes the
      // table.
      if (staleLockFile !== null && isFile(lockPath, staleLockFile)) await rm(lockPath);
      // LMDB would make them for everybody to read.
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

  /** Rejects waiting appends with `failure`. Waits a bounded time for the transaction under way and for the gate. */
  async close(failure: (topic: string) => QuotameshError): Promise<void> {
    this.follower.stop();
    await this.queue.close(CLOSE_COMMIT_GRACE_MS, failure);
    if (this.queue.busy) {
      exitByForceWhile(() => this.queue.busy);
      return;
    }
    // Closing takes LMDB's locks. When another process is frozen inside, the end of this process closes the file.
    const hold = await this.#gate.enter(AbortSignal.timeout(CLOSE_GATE_GRACE_MS));
    if (!hold) return;
    await this.#store.close();
    hold.leave();
    await this.#claim?.release();
  }
}

/** Whether the path still leads to the file with this inode. No other file gets the inode while this one is open. */
function isFile(path: string, inode: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === inode;
}

/**
 * Kills this process at its exit if a transaction hangs in LMDB's lock: the transaction holds a thread of libuv's pool,
 * and `process.exit` would wait for that thread for ever. The gate keeps this from happening among our own processes.
 * It takes a foreign program that is frozen inside the data file, or processes in different network namespaces.
 */
function exitByForceWhile(stuck: () => boolean): void {
  process.once('exit', () => {
    if (stuck()) process.kill(process.pid, 'SIGKILL');
  });
}
