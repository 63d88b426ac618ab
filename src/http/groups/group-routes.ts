import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import {
  type DefinedGroup,
  definedGroup,
  deleteGroup,
  patchGroup,
  putGroup,
  rejectLimitForgotten,
} from '../../groups/changes/change-group.js';
import type { ChangeParts } from '../../groups/changes/change-parts.js';
import { previewDelete, previewPatch, previewPut } from '../../groups/changes/preview-change.js';
import type { Expected } from '../../groups/changes/registry-of.js';
import { changedBy } from '../access/changed-by.js';
import { DEFINITION, PROBLEM } from '../route/answer-schemas.js';
import { describedRoute, mappingIn, NO_QUERY } from '../route/described-route.js';
import { expectedOfGroup, rejectUnknownQuery } from '../route/if-match.js';
import { changes, needs, type RouteAccess } from '../route/route-access.js';
import { DEFINITION_OR_PREVIEW, PREVIEW } from './preview-schemas.js';

interface GroupRoute {
  Params: { group: string };
}

/** Groups are made, changed and deleted here, for the whole cluster: the answer comes when the log has decided. */
export function addGroupRoutes(app: FastifyInstance, node: ChangeParts): void {
  app.get<GroupRoute>(
    '/v1/groups/:group/definition',
    describe(needs('viewer'), 'A group as YAML would write it; its ETag goes into If-Match', {
      response: { 200: DEFINITION, 404: PROBLEM },
    }),
    (request, reply) => sendGroup(reply, 200, definedGroup(node, request.params.group)),
  );
  const changing = (summary: string, schema: FastifySchema) =>
    describe(changes(null), summary, { querystring: DRY_RUN, ...schema });
  app.put<GroupRoute>(
    '/v1/groups/:group',
    changing('Makes a group, or replaces it as a whole', { body: BODY, response: ANSWERS }),
    async (request, reply) => {
      const { group } = request.params;
      const expected = expectedBy(request, node, group);
      const written = mappingIn(request.body);
      const isDry = isSet(request, 'dryRun');
      rejectLimitForgotten(node, group, written, expected);
      if (isDry) return previewPut(node, group, written, expected);
      const { isNew, ...made } = await putGroup(node, group, written, expected, changedBy(request));
      return sendGroup(reply, isNew ? 201 : 200, made);
    },
  );
  app.patch<GroupRoute>(
    '/v1/groups/:group',
    changing('Changes keys of a group (RFC 7396: null takes a key away)', { body: BODY, response: ANSWERS }),
    async (request, reply) => {
      const { group } = request.params;
      const expected = expectedBy(request, node, group);
      if (isSet(request, 'dryRun')) return previewPatch(node, group, mappingIn(request.body), expected);
      const patched = await patchGroup(node, group, mappingIn(request.body), expected, changedBy(request));
      return sendGroup(reply, 200, patched);
    },
  );
  app.delete<GroupRoute>(
    '/v1/groups/:group',
    changing('Deletes what was defined at run time; the group of YAML, if there is one, is in force again', {
      querystring: DELETING,
      response: { 200: PREVIEW, 204: { description: 'Done.', type: 'null' }, ...FAILURES, 503: PROBLEM },
    }),
    async (request, reply) => {
      const { group } = request.params;
      const expected = expectedBy(request, node, group, ['dryRun', 'force']);
      if (isSet(request, 'dryRun')) return previewDelete(node, group, expected, isSet(request, 'force'));
      await deleteGroup(node, group, expected, changedBy(request), isSet(request, 'force'));
      return reply.code(204).send();
    },
  );
}

const FAILURES = { 400: PROBLEM, 403: PROBLEM, 404: PROBLEM, 409: PROBLEM, 412: PROBLEM, 413: PROBLEM, 415: PROBLEM };
const ANSWERS = { 200: DEFINITION_OR_PREVIEW, 201: DEFINITION, ...FAILURES, 422: PROBLEM, 503: PROBLEM };

const DRY_RUN = {
  type: 'object',
  additionalProperties: false,
  properties: {
    dryRun: { type: 'string', enum: ['true', 'false'], description: 'true: only shows what would follow.' },
  },
} as const;

const DELETING = {
  ...DRY_RUN,
  properties: {
    ...DRY_RUN.properties,
    force: {
      type: 'string',
      enum: ['true', 'false'],
      description: 'true: places that are attached to it are detached.',
    },
  },
} as const;

/** docs/reference/settings.md has the keys; schema/node.schema.json has them as a schema. */
const BODY = { type: 'object', description: 'The keys of a group, as below groups.<name> in YAML.' } as const;

function describe(access: RouteAccess, summary: string, schema: FastifySchema) {
  const params = { type: 'object', required: ['group'], properties: { group: { type: 'string' } } };
  return describedRoute(access, 'groups', summary, { params, querystring: NO_QUERY, ...schema });
}

function sendGroup(reply: FastifyReply, code: number, group: DefinedGroup): FastifyReply {
  return reply.code(code).header('etag', `"${group.revision}"`).send(group);
}

function expectedBy(
  request: FastifyRequest,
  node: ChangeParts,
  group: string,
  query: readonly string[] = ['dryRun'],
): Expected {
  rejectUnknownQuery(request, query);
  return expectedOfGroup(request, node, group);
}

/** `?force=true`; throws FIELD_INVALID for what is neither true nor false. */
function isSet({ query }: FastifyRequest, field: 'dryRun' | 'force'): boolean {
  const value = (query as Readonly<Record<string, unknown>>)[field];
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw new QuotameshError('FIELD_INVALID', { field, reason: 'must be true or false' });
}
