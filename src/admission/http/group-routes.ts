import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { QuotameshError } from '../../errors.js';
import {
  type DefinedGroup,
  definedGroup,
  deleteGroup,
  type Expected,
  patchGroup,
  putGroup,
} from '../../runtime/groups/administration.js';
import { previewDelete, previewPatch, previewPut } from '../../runtime/groups/preview-change.js';
import type { QuotaNode } from '../../runtime/quota-node.js';
import { describedRoute, mappingIn } from './described-route.js';
import { DEFINITION_OR_PREVIEW, PREVIEW } from './preview-schemas.js';
import { DEFINITION, PROBLEM } from './response-schemas.js';
import { NO_QUERY } from './status-routes.js';
import { onlyThisMachine } from './this-machine.js';

interface GroupRoute {
  Params: { group: string };
}

/** Groups are made, changed and deleted here, for the whole cluster: the answer comes when the log has decided. */
export function addGroupRoutes(app: FastifyInstance, node: QuotaNode): void {
  app.get<GroupRoute>(
    '/v1/groups/:group/definition',
    describe('A group as YAML would write it; its ETag goes into If-Match', {
      response: { 200: DEFINITION, 404: PROBLEM },
    }),
    (request, reply) => sendGroup(reply, 200, definedGroup(node, request.params.group)),
  );
  const changing = (summary: string, schema: FastifySchema) => ({
    ...describe(summary, { querystring: DRY_RUN, ...schema }),
    ...(node.config.registry.remoteChanges ? {} : { onRequest: onlyThisMachine }),
  });
  app.put<GroupRoute>(
    '/v1/groups/:group',
    changing('Makes a group, or replaces it as a whole', { body: BODY, response: ANSWERS }),
    async (request, reply) => {
      const { group } = request.params;
      if (isDryRun(request)) return previewPut(node, group, mappingIn(request.body), expectedBy(request, node, group));
      const { isNew, ...made } = await putGroup(node, group, mappingIn(request.body), expectedBy(request, node, group));
      return sendGroup(reply, isNew ? 201 : 200, made);
    },
  );
  app.patch<GroupRoute>(
    '/v1/groups/:group',
    changing('Changes keys of a group (RFC 7396: null takes a key away)', { body: BODY, response: ANSWERS }),
    async (request, reply) => {
      const { group } = request.params;
      const expected = expectedBy(request, node, group);
      if (isDryRun(request)) return previewPatch(node, group, mappingIn(request.body), expected);
      return sendGroup(reply, 200, await patchGroup(node, group, mappingIn(request.body), expected));
    },
  );
  app.delete<GroupRoute>(
    '/v1/groups/:group',
    changing('Deletes what was defined at run time; the group of YAML, if there is one, is in force again', {
      response: { 200: PREVIEW, 204: { description: 'Done.', type: 'null' }, ...FAILURES, 503: PROBLEM },
    }),
    async (request, reply) => {
      const { group } = request.params;
      const expected = expectedBy(request, node, group);
      if (isDryRun(request)) return previewDelete(node, group, expected);
      await deleteGroup(node, group, expected);
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

/** docs/settings.md has the keys; schema/node.schema.json has them as a schema. */
const BODY = { type: 'object', description: 'The keys of a group, as below groups.<name> in YAML.' } as const;

function describe(summary: string, schema: FastifySchema) {
  const params = { type: 'object', required: ['group'], properties: { group: { type: 'string' } } };
  return describedRoute('groups', summary, { params, querystring: NO_QUERY, ...schema });
}

function sendGroup(reply: FastifyReply, code: number, group: DefinedGroup): FastifyReply {
  return reply.code(code).header('etag', `"${group.revision}"`).send(group);
}

/** `?dryRun=true`; throws FIELD_INVALID for what is neither true nor false. */
function isDryRun({ query }: FastifyRequest): boolean {
  const { dryRun } = query as { readonly dryRun?: unknown };
  if (dryRun === undefined || dryRun === 'false') return false;
  if (dryRun === 'true') return true;
  throw new QuotameshError('FIELD_INVALID', { field: 'dryRun', reason: 'must be true or false' });
}

/** If-Match and If-None-Match as a revision; throws GROUP_CHANGED where they cannot hold. */
function expectedBy({ headers, query, method }: FastifyRequest, node: QuotaNode, group: string): Expected {
  const [unknown] = Object.keys(query as object).filter((key) => key !== 'dryRun' || method === 'GET');
  if (unknown !== undefined) {
    throw new QuotameshError('FIELD_UNKNOWN', { field: unknown.slice(0, 80), near: ': no such query parameter' });
  }
  const exists = node.groups.numbers.has(group);
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (noneMatch !== undefined) {
    if (noneMatch !== '*') throw invalidHeader('If-None-Match', '*');
    if (exists) throw new QuotameshError('GROUP_CHANGED', { group, reason: 'it exists' });
    return 0;
  }
  if (match === undefined) return null;
  if (!exists) throw new QuotameshError('GROUP_CHANGED', { group: group.slice(0, 200), reason: 'it does not exist' });
  if (match === '*') return null;
  const revision = /^"(\d{1,15})"$/.exec(match)?.[1];
  if (revision === undefined) throw invalidHeader('If-Match', 'the ETag of the group, like "17"');
  return Number(revision);
}

function invalidHeader(field: string, allowed: string): QuotameshError {
  return new QuotameshError('FIELD_INVALID', { field, reason: `must be ${allowed}` });
}
