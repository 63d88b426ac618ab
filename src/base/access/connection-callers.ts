import type { Socket } from 'node:net';
import type { Access, Listener } from './access.js';
import type { Caller } from './caller.js';

/** Words of a listener for callers without proof or address. */
interface CallerWords {
  readonly noToken: string;
  readonly noProof: string;
  readonly noAddress: string;
}

/**
 * Finds out who asks, once per connection and Authorization (docs/decisions/0038). A later request costs a comparison
 * of its Authorization.
 */
export class ConnectionCallers {
  readonly #access: Access;
  readonly #listener: Listener;
  readonly #words: CallerWords;
  readonly #known = new WeakMap<object, KnownCaller>();

  constructor(access: Access, listener: Listener, words: CallerWords) {
    this.#access = access;
    this.#listener = listener;
    this.#words = words;
  }

  /** Returns the connection's last caller, if this request shows the same; null = not yet known. */
  known(connection: object, authorization: string | undefined): Caller | null {
    const known = this.#known.get(connection);
    const isSame = known?.authorization === authorization && known?.version === this.#access.version;
    return known !== undefined && isSame ? known.caller : null;
  }

  /** Returns the caller. Throws AUTH_FAILED, AUTH_LIMITED. */
  of(connection: object, socket: Socket, authorization: string | undefined): Caller {
    const known = this.known(connection, authorization);
    if (known !== null) return known;
    const caller = this.#identify(socket, authorization);
    this.#known.set(connection, { authorization, version: this.#access.version, caller });
    return caller;
  }

  /** Identifies the caller, by the token before the certificate. */
  #identify(socket: Socket, authorization: string | undefined): Caller {
    const { noToken, noProof, noAddress } = this.#words;
    const address = socket.remoteAddress ?? noAddress;
    if (authorization !== undefined) {
      const token = /^Bearer +([\x21-\x7e]{1,512}) *$/i.exec(authorization)?.[1];
      if (token === undefined) this.#access.missing(noToken, this.#listener);
      return this.#access.byToken(token, address, this.#listener);
    }
    const certificate = this.#access.shownCertificate(socket, address, this.#listener);
    if (certificate !== null) return this.#access.byCertificate(certificate, address, this.#listener);
    this.#access.missing(noProof, this.#listener);
  }
}

/** Caller of a connection's last request, and its proof. */
interface KnownCaller {
  readonly authorization: string | undefined;
  readonly version: number;
  readonly caller: Caller;
}
