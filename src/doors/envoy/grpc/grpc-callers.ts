import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Access } from '../../../base/access/access.js';
import { type Caller, hasRole, type Need, roleMissing } from '../../../base/access/caller.js';
import { ConnectionCallers } from '../../../base/access/connection-callers.js';

/** Lets calls in, by the token or certificate of their connection. */
export class GrpcCallers {
  readonly #access: Access;
  readonly #callers: ConnectionCallers;

  constructor(access: Access) {
    this.#access = access;
    this.#callers = new ConnectionCallers(access, 'envoy', WORDS);
  }

  /** Rises when earlier findings do not hold any more. */
  get version(): number {
    return this.#access.version;
  }

  /** Returns the caller; null without `auth:`. Throws AUTH_FAILED, AUTH_LIMITED, ROLE_MISSING. */
  admit(session: ServerHttp2Session, authorization: string | undefined, need: Need, path: string): Caller | null {
    if (this.#access.isOpen || need === 'open') return null;
    const caller = this.#callers.of(session, session.socket as Socket, authorization);
    if (hasRole(caller, need)) return caller;
    this.#access.count('denied', 'envoy');
    throw roleMissing(caller, need, `call ${path}`);
  }
}

const WORDS = {
  noToken: 'authorization is no Bearer token',
  noProof: 'there is no metadata `authorization`',
  noAddress: 'unknown',
};
