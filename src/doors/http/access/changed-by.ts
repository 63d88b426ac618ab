import type { FastifyRequest } from 'fastify';
import type { ChangedBy } from '../../../core/beside/registry/registry-record.js';
import type { Attaching } from '../../../node/groups/changes/attachment-owner.js';
import { callerOf } from './caller.js';

/** Names the author of a change for the trail and the log. */
export function changedBy(request: FastifyRequest): ChangedBy {
  const { name, how } = callerOf(request);
  return { name: name.slice(0, NAME_LENGTH_MAX) || 'unnamed', how, requestId: requestIdOf(request), atMs: Date.now() };
}

/** Adds the tenants for which the caller speaks, which bound the attachments it may change. */
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
