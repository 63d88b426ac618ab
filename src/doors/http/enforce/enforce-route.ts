import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { BYTES, directionIndex, directionOfLane, laneOf, MESSAGES } from '../../../core/base/vocabulary.js';
import type { Part } from '../../../node/enforcers/membership.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { BULK_BODY_LIMIT_FACTOR } from '../acquire/bulk-route.js';
import { problemOf } from '../route/problem.js';
import { NO_QUERY, route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { ENFORCE_ANSWERS, ENFORCE_BODY, ENFORCERS_ANSWERS, type EnforceBody } from './enforce-body.js';

type UsedParts = Pick<NodeParts, 'config' | 'gate' | 'groups' | 'enforcers' | 'notReady'>;

/** Adds `POST /v1/enforce`, a long poll (src/node/enforcers), and `GET /v1/enforcers`. */
export function addEnforceRoutes(app: FastifyInstance, node: UsedParts): void {
  route(
    app,
    {
      method: 'POST',
      url: '/v1/enforce',
      access: needs('traffic'),
      tag: 'admission',
      summary: 'Tells who enforces by itself what to admit, and takes what it has admitted; waits for a change',
      body: ENFORCE_BODY,
      answers: ENFORCE_ANSWERS,
      bodyLimit: node.config.http.bodyLimitBytes * BULK_BODY_LIMIT_FACTOR,
    },
    (request, reply) => enforce(request, reply, node),
  );
  route(
    app,
    {
      method: 'GET',
      url: '/v1/enforcers',
      access: needs('viewer'),
      tag: 'status',
      summary: 'Lists those who enforce by themselves, and when each was heard last',
      query: NO_QUERY,
      answers: ENFORCERS_ANSWERS,
    },
    (_, reply) => {
      const { enforcers } = node;
      reply.send({ alive: enforcers.alive, enforcers: enforcers.list(LISTED_MAX) });
    },
  );
}

const LISTED_MAX = 200;

async function enforce(request: FastifyRequest<{ Body: EnforceBody }>, reply: FastifyReply, node: UsedParts) {
  const { enforcer, life, ttlMs = TTL_MS, seen = null, waitMs = 0, groups } = request.body;
  const found = lanesOf(groups, node);
  const lanes = groups.flatMap(({ admitted = {}, heldBack = false, topics = 0 }, at) => {
    const lane = found[at];
    if (typeof lane !== 'number') return [];
    return [{ lane, admitted: [admitted.messages ?? 0, admitted.bytes ?? 0] as const, isHeldBack: heldBack, topics }];
  });
  const hangUp = new AbortController();
  const onClose = () => hangUp.abort();
  reply.raw.once('close', onClose);
  try {
    // A mistake in one group is answered at once, whatever the others wait for.
    const patience = { seen, waitMs: lanes.length === groups.length ? waitMs : 0, signal: hangUp.signal };
    const { version, validMs, parts } = await node.enforcers.report({ enforcer, life, ttlMs, lanes }, patience);
    let next = 0;
    const answers = found.map((lane) =>
      typeof lane === 'number' ? answerOf(lane, parts[next++], node) : problemIn(lane),
    );
    if (hangUp.signal.aborted) reply.hijack();
    else reply.send({ version, validMs, groups: answers });
  } finally {
    reply.raw.off('close', onClose);
  }
  return reply;
}

const TTL_MS = 3000;

/** Returns the lane of each group, or its mistake. */
function lanesOf(groups: EnforceBody['groups'], { gate }: UsedParts): (number | QuotameshError)[] {
  const seen = new Set<number>();
  return groups.map(({ group, direction = 'publish' }, at) => {
    try {
      const lane = laneOf(gate.groupIndex(group), directionIndex(direction));
      const reason = 'names a group and direction that stands in the request already';
      if (seen.has(lane)) throw new QuotameshError('FIELD_INVALID', { field: `groups[${at}].group`, reason });
      seen.add(lane);
      return lane;
    } catch (error) {
      if (error instanceof QuotameshError) return error;
      throw error;
    }
  });
}

function answerOf(lane: number, { isKnown, rate, depth }: Part, node: UsedParts) {
  if (!isKnown) return problemIn(node.notReady());
  const group = node.groups.ofLane(lane);
  const quota = group.quota[directionOfLane(lane)];
  // A shadow refuses nothing, so it has no quota for a time without the node either.
  const isShadow = group.mode === 'shadow';
  return {
    status: 200,
    messagesPerSecond: finite(rate[MESSAGES]),
    bytesPerSecond: finite(rate[BYTES]),
    messagesDepth: finite(depth[MESSAGES]),
    bytesDepth: finite(depth[BYTES]),
    quota: {
      messagesPerSecond: isShadow ? null : finite(quota[MESSAGES]),
      bytesPerSecond: isShadow ? null : finite(quota[BYTES]),
    },
  };
}

/** Writes Infinity as null for JSON. */
function finite(units: number | undefined): number | null {
  return units === undefined || units === Infinity ? null : units;
}

function problemIn(error: QuotameshError) {
  const { status, code, detail, remedy } = problemOf(error);
  return { status, code, detail, remedy };
}
