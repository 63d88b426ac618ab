import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { readRevision } from '../../../base/input/revision.js';
import { attachmentName } from '../../../core/beside/registry/registry-record.js';
import { listOf, record, text } from '../../../node/api/answer-table.js';
import { AUDITED_CHANGE } from '../../../node/api/change-answers.js';
import { auditedChange } from '../../../node/groups/registry/audit-trail.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { json, PROBLEM } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { once, whole } from '../route/fields.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { withAllowed } from '../route/wording.js';

const PAGE_MAX = 100;

/** Adds the audit trail: each change of the registry by any node, from its log. */
export function addAuditRoute(app: FastifyInstance, node: NodeParts): void {
  route(app, {
    method: 'GET',
    url: '/v1/audit',
    access: needs('operator'),
    tag: 'groups',
    summary: 'Lists changes of groups and attachments at run time, oldest first, a page at a time',
    query: QUERY,
    answers: { 200: CHANGES, 422: PROBLEM },
    handler: ({ query }) => {
      const { revision, group, name, newest } = askedIn(query);
      // One more than a page shows if another page follows.
      const most = newest === null ? PAGE_MAX + 1 : Infinity;
      const all = node.registry?.changesAfter(revision, most, name, group) ?? [];
      const found = newest === null ? all : all.slice(Math.max(0, all.length - newest));
      const page = found.slice(0, PAGE_MAX);
      const last = page.at(-1);
      const isMore = found.length > PAGE_MAX && last !== undefined;
      return { changes: page.map(auditedChange), next: isMore ? `${last.revision}:${last.group}` : null };
    },
  });
}

/** Revision, and the entry behind which the next page begins. */
const AFTER = /^(?<revision>\d+)(?::(?<last>.+))?$/s;

const isAfter = (after: string) => readRevision(AFTER.exec(after)?.groups?.revision ?? '') !== null;

const afterText = z.string().regex(AFTER).refine(isAfter).meta({
  description:
    'Shows only changes with a higher revision than this; `next` of a page is the value for the page behind it.',
});

const QUERY = body(
  {
    after: withAllowed(afterText, 'must be a revision, or next of the page before').exactOptional(),
    group: once('Shows only changes of this group; of a key, or a template of keys: /key/… or /key-template/….'),
    last: whole(PAGE_MAX, 'Shows only so many changes, the newest.').exactOptional(),
    scope: once('Shows only changes of what this scope is attached to, such as acme or acme/orders.'),
  },
  [
    {
      isKept: ({ group, scope }) => group === undefined || scope === undefined,
      mistake: () => new QuotameshError('FIELD_INVALID', { field: 'scope', reason: 'must not stand beside group' }),
    },
  ],
);

const CHANGES = json(
  'A page of changes.',
  record({
    changes: listOf(record(AUDITED_CHANGE)),
    next: text.nullable().meta({ description: 'The value of `after` for the next page; null on the last page.' }),
  }),
);

interface AskedChanges {
  /** Page begins behind this revision, or behind its entry `group`. */
  readonly revision: number;
  readonly group: string | undefined;
  readonly name: string | null;
  /** Newest changes shown; null = all, in pages. */
  readonly newest: number | null;
}

function askedIn({ after, group, scope, last }: z.output<typeof QUERY>): AskedChanges {
  const { revision = 0, last: behind } = AFTER.exec(after ?? '')?.groups ?? {};
  const name = scope === undefined ? (group ?? null) : attachmentName(scope);
  return { revision: Number(revision), group: behind, name, newest: last === undefined ? null : Number(last) };
}
