import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  type CostedGroup,
  checkedReplacement,
  definedGroup,
  deleteGroup,
  patchGroup,
  putGroup,
} from '../../../node/groups/changes/change-group.js';
import type { ChangeParts } from '../../../node/groups/changes/change-parts.js';
import { previewDelete, previewPatch, previewPut } from '../../../node/groups/changes/preview-change.js';
import { changedBy } from '../access/changed-by.js';
import { DEFINITION, PROBLEM } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { anyObject, onOrOff, pathParams } from '../route/fields.js';
import { expectedOfGroup } from '../route/if-match.js';
import { NO_QUERY, route } from '../route/route.js';
import { changes, needs } from '../route/route-access.js';
import { DEFINITION_OR_PREVIEW, PREVIEW } from './preview-schemas.js';

/** Adds routes that change groups for the whole cluster; they answer when the log has decided. */
export function addGroupRoutes(app: FastifyInstance, node: ChangeParts): void {
  route(
    app,
    {
      ...GROUP,
      method: 'GET',
      url: '/v1/groups/:group/definition',
      access: needs('viewer'),
      summary: 'Shows a group as YAML would write it; its ETag can be sent back as If-Match',
      query: NO_QUERY,
      answers: { 200: DEFINITION, 404: PROBLEM },
    },
    ({ params }, reply) => sendGroup(reply, 200, definedGroup(node, params.group)),
  );
  addPut(app, node);
  addPatch(app, node);
  addDelete(app, node);
}

function addPut(app: FastifyInstance, node: ChangeParts): void {
  route(
    app,
    {
      ...CHANGE,
      method: 'PUT',
      summary: 'Makes a group, or replaces all of it',
      query: body({ dryRun }),
      body: DEFINITION_BODY,
      answers: ANSWERS,
    },
    async (request, reply) => {
      const { params, query, body: written } = request;
      const expected = expectedOfGroup(request, node, params.group);
      const definition = checkedReplacement(node, params.group, written, expected);
      if (query.dryRun === 'true') return previewPut(node, params.group, written, expected);
      const { isNew, ...made } = await putGroup(node, params.group, definition, expected, changedBy(request));
      return sendGroup(reply, isNew ? 201 : 200, made);
    },
  );
}

function addPatch(app: FastifyInstance, node: ChangeParts): void {
  route(
    app,
    {
      ...CHANGE,
      method: 'PATCH',
      summary: 'Changes single keys of a group; null takes a key away (RFC 7396)',
      query: body({ dryRun }),
      body: DEFINITION_BODY,
      answers: ANSWERS,
    },
    async (request, reply) => {
      const { params, query, body: patch } = request;
      const expected = expectedOfGroup(request, node, params.group);
      if (query.dryRun === 'true') return previewPatch(node, params.group, patch, expected);
      return sendGroup(reply, 200, await patchGroup(node, params.group, patch, expected, changedBy(request)));
    },
  );
}

function addDelete(app: FastifyInstance, node: ChangeParts): void {
  route(
    app,
    {
      ...CHANGE,
      method: 'DELETE',
      summary: 'Deletes a group that was defined at run time; the group of YAML, if there is one, is in force again',
      query: body({ dryRun, force: onOrOff('True detaches the scopes that are attached to the group.') }),
      answers: { 200: PREVIEW, 204: { description: 'The group is deleted.', type: 'null' }, ...FAILURES, 503: PROBLEM },
    },
    async (request, reply) => {
      const { group } = request.params;
      const expected = expectedOfGroup(request, node, group);
      const isForced = request.query.force === 'true';
      if (request.query.dryRun === 'true') return previewDelete(node, group, expected, isForced);
      await deleteGroup(node, group, expected, changedBy(request), isForced);
      return reply.code(204).send();
    },
  );
}

const GROUP = { tag: 'groups', params: pathParams('group') } as const;
const CHANGE = { ...GROUP, url: '/v1/groups/:group', access: changes(null) } as const;

const FAILURES = { 400: PROBLEM, 403: PROBLEM, 404: PROBLEM, 409: PROBLEM, 412: PROBLEM, 413: PROBLEM, 415: PROBLEM };
const ANSWERS = { 200: DEFINITION_OR_PREVIEW, 201: DEFINITION, ...FAILURES, 422: PROBLEM, 503: PROBLEM };

const dryRun = onOrOff('True changes nothing, and shows what would follow.');

/** Keys of a group: docs/reference/settings.md, schema/node.schema.json. */
const DEFINITION_BODY = anyObject('The keys of a group, as they stand below groups.<name> in YAML.');

function sendGroup(reply: FastifyReply, code: number, group: CostedGroup): FastifyReply {
  return reply.code(code).header('etag', `"${group.revision}"`).send(group);
}
