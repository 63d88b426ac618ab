import type { Socket } from 'node:net';

interface Stranger {
  destroy(): void;
}

/** Holds who has connected and has not logged in, the longest first: a socket in its handshake, then a connection. */
export class Strangers {
  readonly #byEnds = new Map<string, Stranger>();
  readonly #endsOf = new WeakMap<Stranger, string>();

  get size(): number {
    return this.#byEnds.size;
  }

  get oldest(): Stranger | undefined {
    return this.#byEnds.values().next().value;
  }

  /** Adds a stranger; a connection takes the place of the socket that TLS has put it over. */
  add(stranger: Stranger, { remoteAddress, remotePort, localAddress, localPort }: Socket): void {
    const ends = `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
    this.#byEnds.set(ends, stranger);
    this.#endsOf.set(stranger, ends);
  }

  delete(stranger: Stranger): void {
    const ends = this.#endsOf.get(stranger);
    if (ends !== undefined && this.#byEnds.get(ends) === stranger) this.#byEnds.delete(ends);
  }
}
