import type { Access } from '../access/access.js';
import { type Caller, hasRole } from '../access/caller.js';
import { hashOf } from '../access/token.js';
import { QuotameshError } from '../errors/quotamesh-error.js';
import type { GatedConnection } from './gated-connection.js';

/** Return codes of CONNACK (MQTT 3.1.1 §3.2.2.3). */
export const SERVER_UNAVAILABLE = 3;
const BAD_USERNAME_OR_PASSWORD = 4;
const NOT_AUTHORIZED = 5;

/**
 * Decides who may connect: with `auth:`, clients whose password is a token with the role traffic. The username stays
 * what the client says; rules of groups may ask for it (docs/operate/access.md).
 */
export class Logins {
  readonly #access: Access;
  /** Hash of the token that let a connection in. */
  readonly #tokens = new WeakMap<GatedConnection, Buffer>();

  constructor(access: Access) {
    this.#access = access;
  }

  /** null = let in; otherwise the return code of CONNACK. */
  logIn(connection: GatedConnection, password: Readonly<Buffer> | undefined): number | null {
    if (this.#access.isOpen) return null;
    try {
      if (password === undefined || password.length === 0) this.#access.missing('there is no password', 'mqtt');
      const token = password.toString('utf8');
      const caller = this.#access.byToken(token, connection.socket.remoteAddress ?? 'unknown', 'mqtt');
      if (!this.#mayUse(caller)) return NOT_AUTHORIZED;
      this.#tokens.set(connection, hashOf(token));
      return null;
    } catch (error) {
      if (!(error instanceof QuotameshError)) throw error;
      return error.code === 'AUTH_LIMITED' ? SERVER_UNAVAILABLE : BAD_USERNAME_OR_PASSWORD;
    }
  }

  /** Whether a connection would be let in again; one that has not logged in yet has nothing to lose. */
  holds(connection: GatedConnection): boolean {
    if (this.#access.isOpen || !connection.isConnected) return true;
    const hash = this.#tokens.get(connection);
    const caller = hash === undefined ? null : this.#access.byHash(hash);
    return caller !== null && hasRole(caller, 'traffic');
  }

  #mayUse(caller: Caller): boolean {
    const may = hasRole(caller, 'traffic');
    if (!may) this.#access.count('denied', 'mqtt');
    return may;
  }
}
