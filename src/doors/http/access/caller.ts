import type { FastifyRequest } from 'fastify';
import { type Caller, ROLES } from '../../../base/access/caller.js';
import { isLoopback } from '../../../base/access/loopback.js';
import type { ChangedBy } from '../../../core/beside/registry/registry-record.js';
import type { Attaching } from '../../../node/groups/changes/attaching.js';

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

/** Names the author of a change for the trail and the log. */
export function changedBy(request: FastifyRequest): ChangedBy {
  const { name, how } = callerOf(request);
  return { name: name.slice(0, NAME_LENGTH_MAX) || 'unnamed', how, requestId: requestIdOf(request), atMs: Date.now() };
}

/** Adds the caller's tenants: they bound the attachments that it may change. */
export function attachedBy(request: FastifyRequest): Attaching {
  return { ...changedBy(request), tenants: callerOf(request).tenants };
}

/** Returns the caller's x-request-id, or this process's own count. */
export function requestIdOf({ headers, id }: FastifyRequest): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : id;
}

/** Most characters; subjects of certificates may be longer, the record has a bound. */
const NAME_LENGTH_MAX = 200;

/** Ids that may stand in log lines and records as they are. */
const REQUEST_ID = /^[\w.:/+=-]{1,128}$/;
