import type { FastifyInstance, FastifyRequest } from 'fastify';
import { attachmentName } from '../../core/registry/registry-record.js';
import { auditedChange } from '../../runtime/groups/audit-trail.js';
import type { QuotaNode } from '../../runtime/quota-node.js';
import { describedRoute, invalid } from './described-route.js';
import { rejectUnknownQuery } from './if-match.js';
import { listOf, orNull, PROBLEM, record } from './response-schemas.js';
import { needs } from './route-access.js';

/** Of one page; a change has two definitions of at most 28 KiB. */
const PAGE_MAX = 100;

/** Who changed what, of all nodes: read from the log, so that every node can tell. */
export function addAuditRoute(app: FastifyInstance, node: QuotaNode): void {
  const response = { 200: CHANGES, 422: PROBLEM };
  const summary = 'Changes of groups and attachments at run time, oldest first, a page at a time';
  app.get(
    '/v1/audit',
    describedRoute(needs('operator'), 'groups', summary, { querystring: QUERY, response }),
    (request) => {
      const { after, name } = askedIn(request);
      // One more than a page shows whether there is another.
      const found = node.registry?.changesAfter(after, PAGE_MAX + 1, name) ?? [];
      const changes = found.slice(0, PAGE_MAX).map(auditedChange);
      return { changes, next: found.length > PAGE_MAX ? String(changes.at(-1)?.revision) : null };
    },
  );
}

const text = { type: 'string' } as const;

const QUERY = {
  type: 'object',
  properties: {
    after: { ...text, description: 'Only changes with a higher revision; `next` of the page before.' },
    group: { ...text, description: 'Only changes of this group.' },
    place: { ...text, description: 'Only changes of what this place is attached to: acme, acme/orders.' },
  },
};

const DEFINITION = { type: ['object', 'null'], description: 'As YAML writes it; null = nothing at run time.' };

const CHANGES = record({
  changes: listOf(
    record({
      revision: { type: 'integer', minimum: 1, description: 'Of the change; no other has the same.' },
      time: { ...orNull(text), description: 'By the clock of the node that was asked.' },
      node: { ...text, description: 'That was asked.' },
      who: {
        ...record({ name: text, how: text, requestId: text }, 'null = the node does not say.'),
        type: ['object', 'null'],
      },
      what: { ...text, enum: ['made', 'changed', 'deleted'] },
      kind: { ...text, enum: ['group', 'attachment'] },
      name: { ...text, description: 'Of the group, or the path of the place.' },
      before: DEFINITION,
      after: DEFINITION,
    }),
  ),
  next: { ...orNull(text), description: '`after` of the next page.' },
});

function askedIn(request: FastifyRequest): { readonly after: number; readonly name: string | null } {
  rejectUnknownQuery(request, ['after', 'group', 'place']);
  const { after, group, place } = request.query as Readonly<Record<string, unknown>>;
  if (after !== undefined && !(typeof after === 'string' && /^\d{1,15}$/.test(after))) {
    invalid('after', 'must be a revision');
  }
  if (group !== undefined && place !== undefined) invalid('place', 'must not stand beside group');
  for (const [field, value] of Object.entries({ group, place })) {
    if (value !== undefined && typeof value !== 'string') invalid(field, 'must be one name');
  }
  const name = typeof place === 'string' ? attachmentName(place) : (group as string | undefined);
  return { after: Number(after ?? 0), name: name ?? null };
}
