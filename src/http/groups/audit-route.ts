import type { FastifyInstance, FastifyRequest } from 'fastify';
import { attachmentName } from '../../core/registry/registry-record.js';
import { auditedChange } from '../../groups/registry/audit-trail.js';
import type { NodeParts } from '../../node/node-parts.js';
import { listOf, orNull, PROBLEM, record } from '../route/answer-schemas.js';
import { describedRoute, invalid } from '../route/described-route.js';
import { rejectUnknownQuery } from '../route/if-match.js';
import { needs } from '../route/route-access.js';

/** What is used here of a node. */
type UsedParts = Pick<NodeParts, 'registry'>;

/** Of one page; a change has two definitions of at most 28 KiB. */
const PAGE_MAX = 100;

/** Who changed what, of all nodes: read from the log, so that every node can tell. */
export function addAuditRoute(app: FastifyInstance, node: UsedParts): void {
  const response = { 200: CHANGES, 422: PROBLEM };
  const summary = 'Changes of groups and attachments at run time, oldest first, a page at a time';
  app.get(
    '/v1/audit',
    describedRoute(needs('operator'), 'groups', summary, { querystring: QUERY, response }),
    (request) => {
      const { revision, group, name } = askedIn(request);
      // One more than a page shows whether there is another.
      const found = node.registry?.changesAfter(revision, PAGE_MAX + 1, name, group) ?? [];
      const page = found.slice(0, PAGE_MAX);
      const last = page.at(-1);
      const isMore = found.length > PAGE_MAX && last !== undefined;
      return { changes: page.map(auditedChange), next: isMore ? `${last.revision}:${last.group}` : null };
    },
  );
}

const text = { type: 'string' } as const;

const QUERY = {
  type: 'object',
  properties: {
    after: { ...text, description: 'Only changes with a higher revision than this; or `next` of the page before.' },
    group: { ...text, description: 'Only changes of this group.' },
    place: { ...text, description: 'Only changes of what this place is attached to: acme, acme/orders.' },
  },
};

const DEFINITION = { type: ['object', 'null'], description: 'As YAML writes it; null = nothing at run time.' };

const CHANGES = record({
  changes: listOf(
    record({
      revision: { type: 'integer', minimum: 1, description: 'Of the change, and of what was detached with it.' },
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
      withGroup: { ...orNull(text), description: 'Detached because this group was deleted with force.' },
    }),
  ),
  next: { ...orNull(text), description: '`after` of the next page.' },
});

interface AskedChanges {
  /** Behind this, and behind the entry `group` of it where there is one. */
  readonly revision: number;
  readonly group: string | undefined;
  readonly name: string | null;
}

function askedIn(request: FastifyRequest): AskedChanges {
  rejectUnknownQuery(request, ['after', 'group', 'place']);
  const { after, group, place } = request.query as Readonly<Record<string, unknown>>;
  const behind = typeof after === 'string' ? /^(?<revision>\d{1,15})(?::(?<last>.+))?$/s.exec(after) : null;
  if (after !== undefined && behind === null) invalid('after', 'must be a revision, or next of the page before');
  if (group !== undefined && place !== undefined) invalid('place', 'must not stand beside group');
  for (const [field, value] of Object.entries({ group, place })) {
    if (value !== undefined && typeof value !== 'string') invalid(field, 'must be one name');
  }
  const name = typeof place === 'string' ? attachmentName(place) : (group as string | undefined);
  return { revision: Number(behind?.groups?.revision ?? 0), group: behind?.groups?.last, name: name ?? null };
}
