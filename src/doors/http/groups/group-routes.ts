import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { showSent } from '../../../base/input/input-mistakes.js';
import { eitherOf, exactly, listOf, record } from '../../../node/api/answer-table.js';
import { PREVIEWED_GROUP } from '../../../node/api/change-answers.js';
import { MANY_GROUPS } from '../../../node/api/quota-groups.js';
import {
  checkedReplacement,
  definedGroup,
  deleteGroup,
  patchGroup,
  putGroup,
} from '../../../node/groups/changes/change-group.js';
import type { ChangeParts, Expected } from '../../../node/groups/changes/change-parts.js';
import { previewDelete, previewPatch, previewPut } from '../../../node/groups/changes/preview-change.js';
import {
  BATCH_GROUPS_MAX,
  type ExpectedOf,
  previewGroups,
  putGroups,
} from '../../../node/groups/changes/put-groups.js';
import { changedBy } from '../access/caller.js';
import {
  BATCH_PROBLEM,
  BODY_PROBLEMS,
  CHANGE_PROBLEMS,
  CHANGED_DEFINITION,
  DEFINITION,
  DEFINITION_OR_PREVIEW,
  json,
  PREVIEW,
  PROBLEM,
} from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { anyObject, onOrOff, pathParams } from '../route/fields.js';
import { expectedOfGroup } from '../route/if-match.js';
import { NO_QUERY, route } from '../route/route.js';
import { changes, needs } from '../route/route-access.js';

/** Adds routes that change groups for the whole cluster; they answer when the log has decided. */
export function addGroupRoutes(app: FastifyInstance, node: ChangeParts): void {
  route(app, {
    ...GROUP,
    method: 'GET',
    url: '/v1/groups/:group/definition',
    access: needs('viewer'),
    summary: 'Shows a group as YAML would write it; its ETag can be sent back as If-Match',
    query: NO_QUERY,
    answers: { 200: DEFINITION, 404: PROBLEM },
    handler: ({ params }, reply) => sendDefined(reply, 200, definedGroup(node, params.group)),
  });
  route(app, {
    ...CHANGE,
    method: 'PUT',
    summary: 'Makes a group, or replaces all of it',
    query: body({ dryRun }),
    body: DEFINITION_BODY,
    answers: ANSWERS,
    handler: async (request, reply) => {
      const { params, query, body: written } = request;
      const expected = expectedOfGroup(request, node, params.group);
      const definition = checkedReplacement(node, params.group, written, expected);
      if (query.dryRun === 'true') return previewPut(node, params.group, written, expected);
      const { isNew, ...made } = await putGroup(node, params.group, definition, expected, changedBy(request));
      return sendDefined(reply, isNew ? 201 : 200, made);
    },
  });
  route(app, {
    ...CHANGE,
    method: 'PATCH',
    summary: 'Changes single keys of a group; null takes a key away (RFC 7396)',
    query: body({ dryRun }),
    body: DEFINITION_BODY,
    answers: ANSWERS,
    handler: async (request, reply) => {
      const { params, query, body: patch } = request;
      const expected = expectedOfGroup(request, node, params.group);
      if (query.dryRun === 'true') return previewPatch(node, params.group, patch, expected);
      return sendDefined(reply, 200, await patchGroup(node, params.group, patch, expected, changedBy(request)));
    },
  });
  addDelete(app, node);
}

function addDelete(app: FastifyInstance, node: ChangeParts): void {
  route(app, {
    ...CHANGE,
    method: 'DELETE',
    summary: 'Deletes a group that was defined at run time; the group of YAML, if there is one, is in force again',
    query: body({ dryRun, force: onOrOff('True detaches the scopes that are attached to the group.') }),
    answers: { 200: PREVIEW, 204: { description: 'The group is deleted.', type: 'null' }, ...CHANGE_PROBLEMS },
    handler: async (request, reply) => {
      const { group } = request.params;
      const expected = expectedOfGroup(request, node, group);
      const isForced = request.query.force === 'true';
      if (request.query.dryRun === 'true') return previewDelete(node, group, expected, isForced);
      await deleteGroup(node, group, expected, changedBy(request), isForced);
      return reply.code(204).send();
    },
  });
}

const GROUP = { tag: 'groups', params: pathParams('group') } as const;
const CHANGE = { ...GROUP, url: '/v1/groups/:group', access: changes(null) } as const;

const ANSWERS = { 200: DEFINITION_OR_PREVIEW, 201: CHANGED_DEFINITION, ...CHANGE_PROBLEMS };

const dryRun = onOrOff('True changes nothing, and shows what would follow.');

/** Keys of a group: docs/reference/settings.md, schema/node.schema.json. */
const DEFINITION_BODY = anyObject('The keys of a group, as they stand below groups.<name> in YAML.');

/** Sends a definition with its revision as ETag. */
export function sendDefined(reply: FastifyReply, code: number, defined: { readonly revision: number }): FastifyReply {
  return reply.code(code).header('etag', `"${defined.revision}"`).send(defined);
}

/** Adds PUT /v1/groups: makes or replaces many groups, all or none. */
export function addBatchRoute(app: FastifyInstance, node: ChangeParts): void {
  route(app, {
    method: 'PUT',
    url: '/v1/groups',
    access: changes(null),
    tag: 'groups',
    summary: 'Makes or replaces many groups, all or none',
    query: body({ dryRun: onOrOff('True changes nothing, and shows each group before and after.') }),
    body: BATCH_BODY,
    answers: BATCH_ANSWERS,
    handler: async (request, reply) => {
      const { groups } = request.body;
      const expectedOf = expectedBy(request, node, request.body);
      if (request.query.dryRun === 'true') {
        return { dryRun: true, groups: await previewGroups(node, groups, expectedOf) };
      }
      const made = await putGroups(node, groups, expectedOf, changedBy(request));
      return sendDefined(reply, 200, made);
    },
  });
}

const BATCH_BODY = body({
  groups: anyObject(`Name → keys of the group, as below groups in YAML; 1 to ${BATCH_GROUPS_MAX}.`),
  ifRevision: anyObject(
    'Name → the revision that the group must have, or "none" if it must not exist; goes before If-Match and ' +
      'If-None-Match, which count for all groups.',
  ).exactOptional(),
});

const BATCH_ANSWERS = {
  200: json(
    'All groups are changed; with ?dryRun=true what would be.',
    eitherOf(record(MANY_GROUPS), record({ dryRun: exactly(true), groups: listOf(record(PREVIEWED_GROUP)) })),
  ),
  ...BODY_PROBLEMS,
  403: PROBLEM,
  412: BATCH_PROBLEM,
  422: BATCH_PROBLEM,
  503: PROBLEM,
};

function expectedBy(
  request: FastifyRequest,
  node: ChangeParts,
  { groups, ifRevision = {} }: z.output<typeof BATCH_BODY>,
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
