import type { Socket } from 'node:net';

interface Endable {
  destroy(): void;
}

/** Holds connections without a login, the oldest first: a socket in its handshake, then a connection. */
export class AnonymousConnections {
  readonly #byEnds = new Map<string, Endable>();
  readonly #endsOf = new WeakMap<Endable, string>();

  get size(): number {
    return this.#byEnds.size;
  }

  get oldest(): Endable | undefined {
    return this.#byEnds.values().next().value;
  }

  /** Adds a connection that stands for its socket in the handshake. */
  add(anonymous: Endable, { remoteAddress, remotePort, localAddress, localPort }: Socket): void {
    const ends = `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
    this.#byEnds.set(ends, anonymous);
    this.#endsOf.set(anonymous, ends);
  }

  delete(anonymous: Endable): void {
    const ends = this.#endsOf.get(anonymous);
    if (ends !== undefined && this.#byEnds.get(ends) === anonymous) this.#byEnds.delete(ends);
  }
}
