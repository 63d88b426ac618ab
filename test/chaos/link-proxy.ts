import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * open:      everything passes
 * reset:     connections end at once, and new ones are not made
 * drop:      nothing arrives any more in either direction, and nobody is told: packets get lost
 * half-open: what the node sends arrives, what it is answered does not
 * delay:     everything arrives later, in order
 */
export type LinkState =
  | { readonly kind: 'open' | 'reset' | 'drop' | 'half-open' }
  | { readonly kind: 'delay'; readonly delayMs: number };

export const OPEN: LinkState = { kind: 'open' };

/**
 * The way from one node to one broker. What a link has swallowed in `drop` and `half-open` arrives when it is open again, as TCP would send
 * it again: nothing is lost within a connection, it only comes late.
 */
export class LinkProxy {
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #joints = new Set<Joint>();
  #state: LinkState = OPEN;
  #met = 0;

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.#targetPort = targetPort;
    server.on('connection', (near) => this.#join(near));
  }

  static async listen(port: number, targetPort: number): Promise<LinkProxy> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    return new LinkProxy(server, targetPort);
  }

  /** Connections that the present state has met: those that there were when it began, and those that were tried since. */
  get met(): number {
    return this.#met;
  }

  set(state: LinkState): void {
    this.#state = state;
    this.#met = this.#joints.size;
    for (const joint of this.#joints) joint.follow(state);
  }

  close(): void {
    this.set({ kind: 'reset' });
    this.#server.close();
  }

  #join(near: Socket): void {
    this.#met++;
    if (this.#state.kind === 'reset') {
      near.resetAndDestroy();
      return;
    }
    const joint = new Joint(near, connect(this.#targetPort, '127.0.0.1'), () => this.#joints.delete(joint));
    this.#joints.add(joint);
    joint.follow(this.#state);
  }
}

/** One connection through the proxy: two sockets, a pipe each way. */
class Joint {
  readonly #ends: readonly [Socket, Socket];
  readonly #pipes: readonly [Pipe, Pipe];

  constructor(near: Socket, far: Socket, onGone: () => void) {
    this.#ends = [near, far];
    this.#pipes = [new Pipe(near, far), new Pipe(far, near)];
    for (const socket of this.#ends) {
      socket.setNoDelay(true);
      // A reset of either side is what the proxy is there for; `close` follows.
      socket.on('error', () => undefined);
      socket.once('close', () => {
        this.#end();
        onGone();
      });
    }
  }

  follow(state: LinkState): void {
    if (state.kind === 'reset') {
      for (const socket of this.#ends) socket.resetAndDestroy();
      return;
    }
    const [toBroker, toNode] = this.#pipes;
    toBroker.follow(state.kind === 'drop', state.kind === 'delay' ? state.delayMs : 0);
    toNode.follow(state.kind === 'drop' || state.kind === 'half-open', state.kind === 'delay' ? state.delayMs : 0);
  }

  /** A peer that nothing gets through to is not told that the other end has gone, either. */
  #end(): void {
    const [near, far] = this.#ends;
    const [toBroker, toNode] = this.#pipes;
    toNode.whenFlowing(() => near.destroy());
    toBroker.whenFlowing(() => far.destroy());
  }
}

/** One direction. A pause leaves the bytes with the sender, whose socket buffer fills. */
class Pipe {
  readonly #from: Socket;
  readonly #to: Socket;
  /** Delayed chunks with their time, in order. */
  readonly #late: { readonly dueMs: number; readonly chunk: Buffer }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isBlocked = false;
  #delayMs = 0;
  #onFlowing: (() => void) | undefined;

  constructor(from: Socket, to: Socket) {
    this.#from = from;
    this.#to = to;
    from.on('data', (chunk: Buffer) => this.#take(chunk));
    from.on('close', () => clearTimeout(this.#timer));
  }

  follow(isBlocked: boolean, delayMs: number): void {
    this.#isBlocked = isBlocked;
    this.#delayMs = delayMs;
    if (isBlocked) {
      this.#from.pause();
      clearTimeout(this.#timer);
      return;
    }
    this.#from.resume();
    this.#send();
    this.#onFlowing?.();
    this.#onFlowing = undefined;
  }

  whenFlowing(then: () => void): void {
    if (this.#isBlocked) this.#onFlowing = then;
    else then();
  }

  #take(chunk: Buffer): void {
    if (this.#delayMs === 0 && this.#late.length === 0 && !this.#isBlocked) this.#to.write(chunk);
    else {
      this.#late.push({ dueMs: performance.now() + this.#delayMs, chunk });
      this.#send();
    }
  }

  #send(): void {
    clearTimeout(this.#timer);
    if (this.#isBlocked) return;
    const nowMs = performance.now();
    while (this.#late.length > 0 && this.#late[0].dueMs <= nowMs) this.#to.write(this.#late.shift()?.chunk ?? '');
    const next = this.#late[0];
    if (next !== undefined) this.#timer = setTimeout(() => this.#send(), next.dueMs - nowMs);
  }
}
