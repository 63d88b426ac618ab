import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a process that has just left gives way if others were waiting: about ten commits. */
const GIVE_WAY_MS = 2;
/**
 * How often a process asks again when the door refuses although somebody was inside a moment ago: the holder has left,
 * or it is frozen on its way in.
 */
const ASK_AGAIN_MS = 2;
/**
 * A waiter looks again after this time even when it was not told. This covers a connection that the holder never
 * closed.
 */
const LOOK_AGAIN_MS = 1000;

/**
 * The door in front of LMDB's write lock. Every process enters it before it opens, writes or closes the log.
 *
 * LMDB's own lock can only be waited for by blocking a thread. When its holder is frozen (SIGSTOP), opening the log
 * would freeze the event loop (lmdb-js opens with a synchronous transaction), a write would pin a thread of libuv's
 * pool, and `process.exit` would hang for ever joining that thread; all three were seen with lmdb 3.5.6. Processes wait
 * for this door with a socket instead, so they can give up at any time.
 *
 * The door is a listening socket of Linux's abstract namespace. It has one holder at a time. It disappears with its
 * process, whatever kills it, and only after LMDB's robust mutex has been released, because the kernel closes files
 * last. It leaves no file behind, and takes 35 µs to enter and leave (150 when the code is cold).
 *
 * The door is a courtesy only: LMDB's lock still decides who writes. Where there is no such namespace (macOS), or not
 * the same one (containers), the door stands open, and a frozen writer also delays opening and exiting. A process whose
 * event loop stalls inside keeps the others out for as long, like a frozen one; a commit takes 0.3 ms inside.
 */
export class CommitGate {
  readonly #address: string;
  readonly #usable = process.platform === 'linux';
  #giveWay = false;

  /** @param name the same for all processes of one log, at most 100 bytes */
  constructor(name: string) {
    this.#address = `\0${name}`;
  }

  /** Waits for as long as it takes; resolves with undefined once `signal` is aborted. */
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
        // Any error but "in use" means that this machine has no such sockets: go on without them.
        resolve(error.code === 'EADDRINUSE' ? undefined : new GateHold(undefined, () => {}));
      });
      server.listen({ path: this.#address, exclusive: true }, () => {
        resolve(new GateHold(server, () => (this.#giveWay = true)));
      });
    });
  }
}

/** The right to open, write or close the log, until `leave`. */
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

/** Resolves when the holder has left or died (its socket closes), when the signal aborts, or after LOOK_AGAIN_MS. */
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
    // `resume`, because only reading notices that a connection has ended.
    socket.on('end', finish).resume();
  });
}
