import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Scope } from '../../../core/beside/attachments/attachment.js';
import { attach, attachmentAt, detach, listAttachments } from '../../../node/groups/changes/attaching.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { attachedBy, callerOf } from '../access/caller.js';
import { CHANGE_PROBLEMS } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { anyObject, once, pathParams } from '../route/fields.js';
import { expectedOfScope } from '../route/if-match.js';
import { NO_QUERY, route } from '../route/route.js';
import { changes, needs, rejectBeyondTenants } from '../route/route-access.js';
import { withAllowed } from '../route/wording.js';
import { sendDefined } from './group-routes.js';

/** Adds routes that attach scopes to groups, and that explain limits. */
export function addAttachmentRoutes(app: FastifyInstance, node: NodeParts): void {
  route(app, {
    ...VIEWING,
    url: '/v1/attachments',
    summary: 'Lists the attachments of YAML and of run time, a page at a time',
    query: body({ after: once('Begins behind this scope; `next` of a page is the value for the page behind it.') }),
    handler: ({ query }) => pageOf(node, query.after),
  });
  route(app, {
    ...VIEWING,
    url: '/v1/attachments/*',
    summary: 'Shows what a scope itself (tenant, tenant/namespace or tenant/namespace/topic) is attached to',
    query: NO_QUERY,
    params: PATH,
    handler: ({ params }, reply) => sendDefined(reply, 200, attachmentAt(node, params['*'])),
  });
  route(app, {
    ...CHANGING,
    method: 'PUT',
    summary: 'Attaches a scope, or replaces what it is attached to',
    body: ATTACHMENT,
    handler: async (request, reply) => {
      const path = request.params['*'];
      rejectBeyondTenants(callerOf(request), request.body);
      const expected = expectedOfScope(request, node, path);
      return sendDefined(reply, 200, await attach(node, path, request.body, expected, attachedBy(request)));
    },
  });
  route(app, {
    ...CHANGING,
    method: 'DELETE',
    summary: 'Detaches what was attached to a scope at run time; what YAML says of it is in force again',
    handler: async (request, reply) => {
      const path = request.params['*'];
      await detach(node, path, expectedOfScope(request, node, path), attachedBy(request));
      return reply.code(204).send();
    },
  });
  route(app, {
    ...VIEWING,
    url: '/v1/which',
    summary: 'Tells which groups limit work of a scope, and why',
    query: WHICH,
    handler: ({ query }) => which(node, scopeIn(query)),
  });
}

const PAGE_MAX = 1000;

/** Path such as `acme`, `acme/orders`, `acme/orders/paid`. */
const PATH = pathParams('*');

const NAMES = ['tenant', 'namespace', 'topic', 'client'] as const;
/** Headers of a scope at most, as an acquire takes them. */
const HEADERS_MAX = 100;
const WHICH = body({
  tenant: once(),
  namespace: once(),
  topic: once(),
  client: once(),
  header: withAllowed(
    z.union([z.string(), z.array(z.string()).max(HEADERS_MAX)]),
    `must be given at most ${HEADERS_MAX} times`,
  ).exactOptional(),
});

const ATTACHMENT = anyObject(
  'It has exactly one of group, sameAs (the path of another scope) and exempt: true. With andBroader: true the groups of broader scopes are enforced, too.',
);

const ATTACHMENTS = { tag: 'attachments', answers: CHANGE_PROBLEMS } as const;
const VIEWING = { ...ATTACHMENTS, method: 'GET', access: needs('viewer') } as const;
const CHANGING = {
  ...ATTACHMENTS,
  url: '/v1/attachments/*',
  access: changes((params) => String(params['*']).split('/', 1)[0]),
  query: NO_QUERY,
  params: PATH,
} as const;

function pageOf(node: NodeParts, after: string | undefined) {
  const behind = listAttachments(node).filter(({ scope }) => after === undefined || scope > after);
  const attachments = behind.slice(0, PAGE_MAX);
  return { attachments, next: behind.length > PAGE_MAX ? (attachments.at(-1)?.scope ?? null) : null };
}

function which(node: NodeParts, scope: Scope) {
  const { groups, exempt, because } = node.gate.scopes.resolve(scope);
  const { defaultGroup } = node.config;
  const isDefault = groups.length === 0 && !exempt && defaultGroup !== null;
  return { scope, groups: isDefault ? [defaultGroup] : groups, exempt, isDefault, because };
}

function scopeIn(query: z.output<typeof WHICH>): Scope {
  const names = NAMES.filter((name) => query[name] !== undefined).map((name) => [name, query[name]] as const);
  const headers = [query.header ?? []].flat().map((header) => {
    const at = header.indexOf(':');
    if (at > 0) return [header.slice(0, at).trim().toLowerCase(), header.slice(at + 1).trim()] as const;
    throw new QuotameshError('FIELD_INVALID', { field: 'header', reason: 'must be name:value' });
  });
  const scope = Object.fromEntries(names) as Scope;
  return headers.length === 0 ? scope : { ...scope, headers: Object.fromEntries(headers) };
}
