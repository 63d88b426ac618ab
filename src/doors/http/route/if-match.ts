import type { FastifyRequest } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { readRevision } from '../../../base/input/revision.js';
import type { ChangeParts, Expected } from '../../../node/groups/changes/change-parts.js';

interface Changing {
  readonly exists: boolean;
  /** Makes the error for a condition that cannot hold. */
  readonly refuse: (reason: string) => QuotameshError;
}

/** Reads the expected revision of a group. Throws GROUP_CHANGED, FIELD_INVALID. */
export function expectedOfGroup(request: FastifyRequest, node: ChangeParts, group: string): Expected {
  return expectedBy(request, {
    exists: node.groups.numbers.has(group),
    refuse: (reason) => new QuotameshError('GROUP_CHANGED', { group: group.slice(0, 200), reason }),
  });
}

/** Reads the expected revision of a scope's attachment. Throws ATTACHMENT_CHANGED, FIELD_INVALID. */
export function expectedOfScope(request: FastifyRequest, node: ChangeParts, scope: string): Expected {
  return expectedBy(request, {
    exists: node.attachments.at(scope) !== null,
    refuse: (reason) => new QuotameshError('ATTACHMENT_CHANGED', { scope: scope.slice(0, 200), reason }),
  });
}

/** Reads the expected revision of a template or a key's own settings. Throws KEY_DEFINITION_CHANGED, FIELD_INVALID. */
export function expectedOfKeys(request: FastifyRequest, what: string, exists: boolean): Expected {
  const refuse = (reason: string) => new QuotameshError('KEY_DEFINITION_CHANGED', { what, reason });
  return expectedBy(request, { exists, refuse });
}

/** Reads If-Match and If-None-Match as a revision; throws what `refuse` makes where they cannot hold. */
function expectedBy({ headers }: FastifyRequest, { exists, refuse }: Changing): Expected {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (noneMatch !== undefined) {
    if (noneMatch !== '*') throw invalidHeader('If-None-Match', '*');
    if (exists) throw refuse('it exists');
    return 0;
  }
  if (match === undefined) return null;
  if (!exists) throw refuse('it does not exist');
  if (match === '*') return null;
  const revision = readRevision(/^"(.+)"$/.exec(match)?.[1] ?? '');
  if (revision === null) throw invalidHeader('If-Match', 'the ETag of what is changed, like "17"');
  return revision;
}

function invalidHeader(field: string, allowed: string): QuotameshError {
  return new QuotameshError('FIELD_INVALID', { field, reason: `must be ${allowed}` });
}
