import type { FastifyRequest } from 'fastify';
import type { ChangedBy } from '../../../core/beside/registry/registry-record.js';
import type { Attaching } from '../../../node/groups/changes/attachment-owner.js';
import { callerOf } from './caller.js';

/** Who asks for a change, for the trail and the log. */
export function changedBy(request: FastifyRequest): ChangedBy {
  const { name, how } = callerOf(request);
  return { name: name.slice(0, NAME_LENGTH_MAX) || 'unnamed', how, requestId: requestIdOf(request), atMs: Date.now() };
}

/** The same, with the tenants for which the caller speaks: they decide which attachments it may change. */
export function attachedBy(request: FastifyRequest): Attaching {
  return { ...changedBy(request), tenants: callerOf(request).tenants };
}

/** The caller's x-request-id; otherwise this process's own count of requests. */
export function requestIdOf({ headers, id }: FastifyRequest): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : id;
}

/** Subjects of certificates may be longer; the record has a bound. */
const NAME_LENGTH_MAX = 200;

/** What goes into log lines and records as it is. */
const REQUEST_ID = /^[\w.:/+=-]{1,128}$/;
