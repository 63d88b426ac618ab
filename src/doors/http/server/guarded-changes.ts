import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { monotonicClock } from '../../../base/ports/clock.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import { OneBucket } from '../../../core/limiter/one-bucket.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { callerOf, requestIdOf } from '../access/caller.js';
import { knownError } from './error-handler.js';

/**
 * Bounds the rate of all changing routes (route-access.ts), and logs refused changes. The registry logs accepted ones
 * (groups/registry/audit-trail.ts). Called before routes are added; a route's own hooks run first, so that refused
 * callers use up no rate.
 */
export function guardChanges(app: FastifyInstance, node: NodeParts, telemetry: Telemetry): void {
  const bound = boundOf(node);
  const tell = tellerOf(telemetry);
  app.addHook('onRoute', (route) => {
    if (route.config?.access?.changes !== true) return;
    route.onRequest = [...[route.onRequest ?? []].flat(), bound];
    route.schema = withTooMany(route.schema);
    route.onError = [...[route.onError ?? []].flat(), tell];
  });
}

/** Describes the 429 of a route like its 403. */
function withTooMany(schema: FastifySchema = {}): FastifySchema {
  const response = schema.response as Readonly<Record<number, unknown>> | undefined;
  return { ...schema, response: { ...response, 429: response?.[403] } };
}

type Done = (error?: Error) => void;

function boundOf(node: NodeParts) {
  const { changesPerSecond: rate } = node.config.registry;
  const takeChange = takerOf(rate);
  return (_: FastifyRequest, reply: FastifyReply, done: Done): void => {
    const waitMs = takeChange();
    if (waitMs === 0) {
      done();
      return;
    }
    if (node.registry !== null) node.registry.changes['too-fast']++;
    reply.header('retry-after', Math.ceil(waitMs / 1000));
    done(new QuotameshError('CHANGES_TOO_FAST', { rate }));
  };
}

/** Log lines of refused changes per second: no caller may fill a disk. */
const LINES_PER_SECOND = 20;
const TEXT_LENGTH_MAX = 500;
const STRANGER = { name: null, how: 'unknown' } as const;

function tellerOf(telemetry: Telemetry) {
  const takeLine = takerOf(LINES_PER_SECOND);
  let leftOut = 0;
  return (request: FastifyRequest, _: FastifyReply, error: Error, done: () => void): void => {
    const { dryRun } = request.query as { readonly dryRun?: unknown };
    if (dryRun !== 'true' && takeLine() > 0) leftOut++;
    else if (dryRun !== 'true') {
      telemetry.log('warn', 'change refused', { ...refusalOf(request, error), ...(leftOut > 0 ? { leftOut } : {}) });
      leftOut = 0;
    }
    done();
  };
}

function refusalOf(request: FastifyRequest, error: Error) {
  const { code, message } = knownError(error, request);
  // A refused login has no caller; callerOf would name this machine.
  const isStranger = code === 'AUTH_FAILED' || code === 'AUTH_LIMITED';
  const { name, how } = isStranger ? STRANGER : callerOf(request);
  return {
    audit: true,
    outcome: 'refused',
    who: { name, how, requestId: requestIdOf(request) },
    address: request.socket.remoteAddress ?? null,
    what: `${request.method} ${request.url.slice(0, TEXT_LENGTH_MAX)}`,
    code,
    reason: message.slice(0, TEXT_LENGTH_MAX),
  };
}

/** Seconds whose changes may come at once after a pause. */
const DEPTH_SECONDS = 10;

/** Makes a function that takes one of so many per second: returns 0, or milliseconds until one may be. */
function takerOf(perSecond: number): () => number {
  const bucket = new OneBucket(perSecond, perSecond * DEPTH_SECONDS, monotonicClock());
  return () => bucket.take(monotonicClock());
}
