import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { showSent } from '../../../base/input/input-mistakes.js';
import type { ChangeParts, Expected } from '../../../node/groups/changes/change-parts.js';
import {
  BATCH_GROUPS_MAX,
  type ExpectedOf,
  previewGroups,
  putGroups,
} from '../../../node/groups/changes/put-groups.js';
import { changedBy } from '../access/changed-by.js';
import { BATCH_PROBLEM, count, json, listOf, PROBLEM, record, text, yes } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { anyObject, onOrOff } from '../route/fields.js';
import { expectedOfGroup } from '../route/if-match.js';
import { route } from '../route/route.js';
import { changes } from '../route/route-access.js';

/** Adds PUT /v1/groups: makes or replaces many groups, all or none. */
export function addBatchRoute(app: FastifyInstance, node: ChangeParts): void {
  route(
    app,
    {
      method: 'PUT',
      url: '/v1/groups',
      access: changes(null),
      tag: 'groups',
      summary: 'Makes or replaces many groups, all or none',
      query: body({ dryRun: onOrOff('True changes nothing, and shows each group before and after.') }),
      body: BODY,
      answers: ANSWERS,
    },
    async (request, reply) => {
      const { groups } = request.body;
      const expectedOf = expectedBy(request, node, request.body);
      if (request.query.dryRun === 'true') {
        return { dryRun: true, groups: await previewGroups(node, groups, expectedOf) };
      }
      const made = await putGroups(node, groups, expectedOf, changedBy(request));
      return reply.header('etag', `"${made.revision}"`).send(made);
    },
  );
}

const BODY = body({
  groups: anyObject(`Name → keys of the group, as below groups in YAML; 1 to ${BATCH_GROUPS_MAX}.`),
  ifRevision: anyObject(
    'Name → the revision that the group must have, or "none" if it must not exist; goes before If-Match and ' +
      'If-None-Match, which count for all groups.',
  ).exactOptional(),
});

const PREVIEWED = record({
  group: text,
  isNew: yes,
  origin: z.enum(['yaml', 'run-time']).nullable(),
  revision: count,
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()),
});

const PUT_GROUPS = record({ revision: count, groups: listOf(record({ group: text, isNew: yes })) });

const ANSWERS = {
  200: json(
    'All groups are changed; with ?dryRun=true what would be.',
    z.union([PUT_GROUPS, record({ dryRun: z.literal(true), groups: listOf(PREVIEWED) })]),
  ),
  400: PROBLEM,
  403: PROBLEM,
  412: BATCH_PROBLEM,
  413: PROBLEM,
  415: PROBLEM,
  422: BATCH_PROBLEM,
  503: PROBLEM,
};

function expectedBy(
  request: FastifyRequest,
  node: ChangeParts,
  { groups, ifRevision = {} }: z.output<typeof BODY>,
): ExpectedOf {
  for (const [group, revision] of Object.entries(ifRevision)) {
    const field = `ifRevision.${group.slice(0, 200)}`;
    if (!Object.hasOwn(groups, group)) throw invalid(field, 'is not among the groups');
    if (revision !== 'none' && (!Number.isSafeInteger(revision) || (revision as number) < 0)) {
      throw invalid(field, `must be a revision or "none", got ${showSent(revision)}`);
    }
  }
  return (group) => {
    if (!Object.hasOwn(ifRevision, group)) return expectedOfGroup(request, node, group);
    return expectedNow(node, group, ifRevision[group] as number | 'none');
  };
}

function expectedNow({ groups }: ChangeParts, group: string, revision: number | 'none'): Expected {
  const isThere = groups.numbers.has(group);
  if (isThere === (revision === 'none')) {
    const reason = isThere ? 'it exists' : 'it does not exist';
    throw new QuotameshError('GROUP_CHANGED', { group: group.slice(0, 200), reason });
  }
  return revision === 'none' ? 0 : revision;
}

function invalid(field: string, reason: string): QuotameshError {
  return new QuotameshError('FIELD_INVALID', { field, reason });
}
