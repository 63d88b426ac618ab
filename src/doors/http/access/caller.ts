import { type Caller, ROLES } from '../../../base/access/caller.js';
import { isLoopback } from '../../../base/access/loopback.js';

export type { Caller, Role } from '../../../base/access/caller.js';

export interface CallingRequest {
  /** Set before all else of a route where the configuration has `auth:`. */
  caller?: Caller;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Finds out who sent this request, when called. */
export function callerOf({ caller, socket }: CallingRequest): Caller {
  if (caller !== undefined) return caller;
  const address = socket.remoteAddress;
  return { name: isThisMachine(address) ? 'loopback' : String(address), roles: ROLES, tenants: null, how: 'open' };
}

declare module 'fastify' {
  interface FastifyRequest {
    caller?: Caller;
  }
}

/** Tests if a caller is of this machine; no address = a Unix socket. */
export function isThisMachine(address: string | undefined): boolean {
  return address === undefined || isLoopback(address);
}
