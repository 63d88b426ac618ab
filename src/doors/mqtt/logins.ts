import type { PeerCertificate } from 'node:tls';
import type { Access } from '../../base/access/access.js';
import { type Caller, hasRole } from '../../base/access/caller.js';
import { shownCertificate } from '../../base/access/shown-certificate.js';
import { hashOf } from '../../base/access/token.js';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { GatedConnection } from './gated-connection.js';

/** Return codes of CONNACK (MQTT 3.1.1 §3.2.2.3). */
export const IDENTIFIER_REJECTED = 2;
export const SERVER_UNAVAILABLE = 3;
const BAD_USERNAME_OR_PASSWORD = 4;
const NOT_AUTHORIZED = 5;

/**
 * Decides who may connect: with `auth:`, clients whose password is a token with the role traffic, or, without a
 * password, whose certificate has it by a rule. The username stays what the client says; rules of groups may ask for it
 * (docs/operate/access.md).
 */
export class Logins {
  readonly #access: Access;
  /** What let a connection in: the hash of a token, or a certificate. */
  readonly #shown = new WeakMap<GatedConnection, Buffer | PeerCertificate>();

  constructor(access: Access) {
    this.#access = access;
  }

  /** null = let in; otherwise the return code of CONNACK. */
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

  /** Whether a connection would be let in again; one that has not logged in yet has nothing to lose. */
  holds(connection: GatedConnection): boolean {
    if (this.#access.isOpen || !connection.isConnected) return true;
    const shown = this.#shown.get(connection);
    if (shown === undefined) return false;
    const caller = Buffer.isBuffer(shown) ? this.#access.byHash(shown) : this.#access.certified(shown);
    return caller !== null && hasRole(caller, 'traffic');
  }

  #byCertificate(connection: GatedConnection, address: string): number | null {
    const certificate = shownCertificate(this.#access, connection.socket, { address, listener: 'mqtt' });
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
