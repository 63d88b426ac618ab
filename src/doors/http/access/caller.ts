import { type Caller, ROLES } from '../../../base/access/caller.js';
import { isThisMachine } from './this-machine.js';

export type { Caller, Role } from '../../../base/access/caller.js';

/** What `callerOf` needs of a request. */
export interface CallingRequest {
  /** Set where the configuration has `auth:`, before anything else of a route runs. */
  caller?: Caller;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Who sent this request; found out only when this is called. */
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
