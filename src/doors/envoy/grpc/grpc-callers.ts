import type { ServerHttp2Session } from 'node:http2';
import type { Access } from '../../../base/access/access.js';
import { type Caller, hasRole, type Need } from '../../../base/access/caller.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';

/** Caller of a connection's last request, and its proof. */
interface KnownCaller {
  readonly authorization: string | undefined;
  readonly version: number;
  readonly caller: Caller;
}

/** Finds out who asks, once per connection and Authorization (docs/decisions/0038). */
export class GrpcCallers {
  readonly #access: Access;
  readonly #known = new WeakMap<ServerHttp2Session, KnownCaller>();

  constructor(access: Access) {
    this.#access = access;
  }

  /** Rises when earlier findings do not hold any more. */
  get version(): number {
    return this.#access.version;
  }

  /** Returns the caller; null without `auth:`. Throws AUTH_FAILED, AUTH_LIMITED, ROLE_MISSING. */
  admit(session: ServerHttp2Session, authorization: string | undefined, need: Need, path: string): Caller | null {
    if (this.#access.isOpen || need === 'open') return null;
    const caller = this.#callerOf(session, authorization);
    if (hasRole(caller, need)) return caller;
    this.#access.count('denied', 'envoy');
    const { name, roles } = caller;
    throw new QuotameshError('ROLE_MISSING', {
      caller: name,
      what: `call ${path}`,
      needs: need,
      roles: roles.join(', '),
    });
  }

  #callerOf(session: ServerHttp2Session, authorization: string | undefined): Caller {
    const known = this.#known.get(session);
    if (known?.authorization === authorization && known?.version === this.version) return known.caller;
    const caller = this.#identify(session, authorization);
    this.#known.set(session, { authorization, version: this.version, caller });
    return caller;
  }

  /** Identifies the caller, by the token before the certificate. */
  #identify({ socket }: ServerHttp2Session, authorization: string | undefined): Caller {
    const address = socket.remoteAddress ?? 'unknown';
    if (authorization !== undefined) {
      const token = /^Bearer +([\x21-\x7e]{1,512}) *$/i.exec(authorization)?.[1];
      if (token === undefined) this.#access.missing('authorization is no Bearer token', 'envoy');
      return this.#access.byToken(token, address, 'envoy');
    }
    const certificate = this.#access.shownCertificate(socket as never, address, 'envoy');
    if (certificate !== null) return this.#access.byCertificate(certificate, address, 'envoy');
    this.#access.missing('there is no metadata `authorization`', 'envoy');
  }
}
