import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { Scope } from '../../core/attachments/attachment.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import { type AttachedTo, attach, attachmentAt, detach, listAttachments } from '../../groups/changes/attaching.js';
import type { ChangeParts } from '../../groups/changes/change-parts.js';
import type { NodeParts } from '../../node/node-parts.js';
import { callerOf } from '../access/caller.js';
import { attachedBy } from '../access/changed-by.js';
import { PROBLEM } from '../route/answer-schemas.js';
import { describedRoute, mappingIn, NO_QUERY } from '../route/described-route.js';
import { expectedOfPlace, rejectUnknownQuery } from '../route/if-match.js';
import { changes, needs, type RouteAccess, rejectBeyondTenants } from '../route/route-access.js';

/** What is used here of a node. */
type UsedParts = ChangeParts & Pick<NodeParts, 'config' | 'gate'>;

interface AttachmentRoute {
  Params: { '*': string };
}

/** Which tenant, namespace or topic is attached to which group, and why work is limited by what it is limited by. */
export function addAttachmentRoutes(app: FastifyInstance, node: UsedParts): void {
  app.get(
    '/v1/attachments',
    describe(VIEWING, 'All attachments, of YAML and of run time, a page at a time', { querystring: PAGE }),
    (request) => pageOf(node, request),
  );
  app.get<AttachmentRoute>(
    '/v1/attachments/*',
    describe(VIEWING, 'What a place is attached to itself: tenant, tenant/namespace or tenant/namespace/topic', PATH),
    (request, reply) => send(reply, attachmentAt(node, request.params['*'])),
  );
  app.put<AttachmentRoute>(
    '/v1/attachments/*',
    describe(CHANGING, 'Attaches a place, or replaces what it is attached to', { ...PATH, body: BODY }),
    async (request, reply) => {
      const path = request.params['*'];
      const body = mappingIn(request.body);
      rejectBeyondTenants(callerOf(request), body);
      return send(reply, await attach(node, path, body, expected(request, node), attachedBy(request)));
    },
  );
  app.delete<AttachmentRoute>(
    '/v1/attachments/*',
    describe(CHANGING, 'Detaches what was attached at run time; what YAML says is in force again', PATH),
    async (request, reply) => {
      await detach(node, request.params['*'], expected(request, node), attachedBy(request));
      return reply.code(204).send();
    },
  );
  app.get(
    '/v1/which',
    describe(VIEWING, 'Which groups limit work of a place, and why; headers as header=name:value', {
      querystring: WHICH,
    }),
    (request) => which(node, placeIn(request)),
  );
}

const PAGE_MAX = 1000;

const FAILURES = { 400: PROBLEM, 403: PROBLEM, 404: PROBLEM, 409: PROBLEM, 412: PROBLEM, 422: PROBLEM, 503: PROBLEM };
const PAGE = { type: 'object', properties: { after: { type: 'string', description: '`next` of the page before.' } } };
const PATH = {
  params: { type: 'object', required: ['*'], properties: { '*': { type: 'string', description: 'acme/orders' } } },
};
const NAMES = ['tenant', 'namespace', 'topic', 'client'] as const;
const WHICH = {
  type: 'object',
  properties: Object.fromEntries([...NAMES, 'header'].map((name) => [name, { type: 'string' }])),
};
const BODY = {
  type: 'object',
  description: 'Exactly one of group, sameAs (path of another place) and exempt: true; and andBroader.',
  properties: {
    group: { type: 'string' },
    sameAs: { type: 'string' },
    exempt: { type: 'boolean' },
    andBroader: { type: 'boolean', description: 'What the broader places are attached to is enforced too.' },
  },
};

const VIEWING = needs('viewer');
const CHANGING = changes((params) => String(params['*']).split('/', 1)[0] as string);

function describe(access: RouteAccess, summary: string, schema: FastifySchema) {
  return describedRoute(access, 'attachments', summary, { querystring: NO_QUERY, response: FAILURES, ...schema });
}

function send(reply: FastifyReply, attached: AttachedTo): FastifyReply {
  return reply.header('etag', `"${attached.revision}"`).send(attached);
}

function expected(request: FastifyRequest<AttachmentRoute>, node: UsedParts) {
  rejectUnknownQuery(request);
  return expectedOfPlace(request, node, request.params['*']);
}

function pageOf(node: UsedParts, request: FastifyRequest) {
  rejectUnknownQuery(request, ['after']);
  const { after } = request.query as { after?: unknown };
  const behind = listAttachments(node).filter(({ place }) => typeof after !== 'string' || place > after);
  const attachments = behind.slice(0, PAGE_MAX);
  return { attachments, next: behind.length > PAGE_MAX ? (attachments.at(-1)?.place ?? null) : null };
}

function which(node: UsedParts, place: Scope) {
  const { groups, exempt, because } = node.gate.places.resolve(place);
  const { defaultGroup } = node.config;
  const isDefault = groups.length === 0 && !exempt && defaultGroup !== null;
  return { place, groups: isDefault ? [defaultGroup] : groups, exempt, isDefault, because };
}

function placeIn(request: FastifyRequest): Scope {
  rejectUnknownQuery(request, [...NAMES, 'header']);
  const query = request.query as Readonly<Record<string, string | string[]>>;
  const names = NAMES.filter((name) => query[name] !== undefined).map((name) => [name, query[name]] as const);
  const headers = [query.header ?? []].flat().map((header) => {
    const at = header.indexOf(':');
    if (at > 0) return [header.slice(0, at).trim().toLowerCase(), header.slice(at + 1).trim()] as const;
    throw new QuotameshError('FIELD_INVALID', { field: 'header', reason: 'must be name:value' });
  });
  const place = Object.fromEntries(names) as Scope;
  return headers.length === 0 ? place : { ...place, headers: Object.fromEntries(headers) };
}
