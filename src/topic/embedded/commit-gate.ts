import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds for which a leaving process gives way to waiting ones: about ten commits. */
const GIVE_WAY_MS = 2;
/** Milliseconds to try again when the door refuses without a holder: it left, or froze on its way in. */
const ASK_AGAIN_MS = 2;
/** Milliseconds after which a waiter looks again, for connections never closed. */
const LOOK_AGAIN_MS = 1000;

/**
 * Guards LMDB's write lock; every process enters before it opens, writes or closes the log. *Why:* LMDB's own lock blocks
 * a thread. With a frozen holder (SIGSTOP), opening freezes the event loop, a write pins a thread of libuv's pool, and
 * `process.exit` hangs joining it. Processes wait here with a socket instead, and can give up at any time.
 *
 * - The door is a listening socket of Linux's abstract namespace: one holder, no file, 35 µs.
 * - It disappears with its process after LMDB's robust mutex was released, because the kernel closes files last.
 * - LMDB's lock still decides who writes.
 * - A process that stalls inside keeps others out as long.
 * - Without a common namespace (macOS, containers) the door stands open: a frozen writer delays opening and exiting.
 */
export class CommitGate {
  readonly #address: string;
  readonly #usable = process.platform === 'linux';
  #giveWay = false;

  /** @param name of the log for all processes, at most 100 bytes */
  constructor(name: string) {
    this.#address = `\0${name}`;
  }

  /** Waits without a bound; resolves with undefined once `signal` is aborted. */
  async enter(signal: AbortSignal): Promise<GateHold | undefined> {
    if (this.#giveWay) await sleep(GIVE_WAY_MS);
    this.#giveWay = false;
    while (!signal.aborted) {
      const hold = this.#usable ? await this.#tryEnter() : new GateHold(undefined, () => {});
      if (hold) return hold;
      await holderGone(this.#address, signal);
    }
    return undefined;
  }

  /** Resolves with undefined if somebody else is inside. */
  #tryEnter(): Promise<GateHold | undefined> {
    return new Promise((resolve) => {
      const server = createServer();
      server.once('error', (error: NodeJS.ErrnoException) => {
        // Any error but "in use" means no such sockets here: go on without.
        resolve(error.code === 'EADDRINUSE' ? undefined : new GateHold(undefined, () => {}));
      });
      server.listen({ path: this.#address, exclusive: true }, () => {
        resolve(new GateHold(server, () => (this.#giveWay = true)));
      });
    });
  }
}

/** Holds the right to open, write or close the log, until `leave`. */
export class GateHold {
  readonly #server: Server | undefined;
  readonly #waiters = new Set<Socket>();
  readonly #onContention: () => void;

  constructor(server: Server | undefined, onContention: () => void) {
    this.#server = server;
    this.#onContention = onContention;
    server?.on('connection', (socket) => {
      this.#waiters.add(socket);
      socket.on('error', () => {}).on('close', () => this.#waiters.delete(socket));
    });
  }

  leave(): void {
    this.#server?.close();
    if (this.#waiters.size > 0) this.#onContention();
    for (const socket of this.#waiters) socket.destroy();
  }
}

/** Resolves when the holder is gone, at an abort, or after LOOK_AGAIN_MS. */
function holderGone(address: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ path: address });
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      socket.destroy();
      resolve();
    };
    let timer = setTimeout(finish, LOOK_AGAIN_MS);
    signal.addEventListener('abort', finish);
    socket.on('error', () => {
      clearTimeout(timer);
      timer = setTimeout(finish, ASK_AGAIN_MS);
    });
    // `resume`, because only reading notices the end of a connection.
    socket.on('end', finish).resume();
  });
}
