import type { PeerCertificate } from 'node:tls';
import type { Access } from '../../base/access/access.js';
import { type Caller, hasRole } from '../../base/access/caller.js';
import { hashOf } from '../../base/access/token.js';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { GatedConnection } from './gated-connection.js';

/** Return codes of CONNACK (MQTT 3.1.1 §3.2.2.3). */
export const IDENTIFIER_REJECTED = 2;
export const SERVER_UNAVAILABLE = 3;
const BAD_USERNAME_OR_PASSWORD = 4;
const NOT_AUTHORIZED = 5;

/**
 * Decides who may connect. With `auth:` a client needs the role traffic: its password is a token that has it, or it has
 * no password and a certificate to which a rule gives it. The username is not proven; rules of groups may use it
 * (docs/operate/access.md).
 */
export class Logins {
  readonly #access: Access;
  /** Proof of a connection: the hash of a token, or a certificate. */
  readonly #shown = new WeakMap<GatedConnection, Buffer | PeerCertificate>();

  constructor(access: Access) {
    this.#access = access;
  }

  /** Returns null = let in, or the return code of CONNACK. */
  logIn(connection: GatedConnection, password: Readonly<Buffer> | undefined): number | null {
    if (this.#access.isOpen) return null;
    const address = connection.socket.remoteAddress ?? 'unknown';
    try {
      if (password === undefined || password.length === 0) return this.#byCertificate(connection, address);
      const token = password.toString('utf8');
      return this.#letIn(connection, this.#access.byToken(token, address, 'mqtt'), hashOf(token));
    } catch (error) {
      if (!(error instanceof QuotameshError)) throw error;
      return error.code === 'AUTH_LIMITED' ? SERVER_UNAVAILABLE : BAD_USERNAME_OR_PASSWORD;
    }
  }

  /** Tests if a connection would be let in again; one without login loses nothing. */
  holds(connection: GatedConnection): boolean {
    if (this.#access.isOpen || !connection.isConnected) return true;
    const shown = this.#shown.get(connection);
    if (shown === undefined) return false;
    const caller = Buffer.isBuffer(shown) ? this.#access.byHash(shown) : this.#access.certified(shown);
    return caller !== null && hasRole(caller, 'traffic');
  }

  #byCertificate(connection: GatedConnection, address: string): number | null {
    const certificate = this.#access.shownCertificate(connection.socket, address, 'mqtt');
    if (certificate === null) this.#access.missing('there is no password', 'mqtt');
    return this.#letIn(connection, this.#access.byCertificate(certificate, address, 'mqtt'), certificate);
  }

  #letIn(connection: GatedConnection, caller: Caller, shown: Buffer | PeerCertificate): number | null {
    if (!hasRole(caller, 'traffic')) {
      this.#access.count('denied', 'mqtt');
      return NOT_AUTHORIZED;
    }
    this.#shown.set(connection, shown);
    return null;
  }
}
