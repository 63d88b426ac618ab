import { randomUUID } from 'node:crypto';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { showSent } from '../../base/input/input-mistakes.js';
import { isMapping } from '../../base/input/mapping.js';
import type { ChangeOptions, Definition } from '../api/quota-groups.js';
import type { Expected } from '../groups/changes/change-parts.js';

/** Reads an expected revision; throws what `refuse` makes where it cannot hold. */
export function expectedBy(
  options: ChangeOptions,
  exists: boolean,
  refuse: (reason: string) => QuotameshError,
): Expected {
  const { ifRevision } = mappingOf('options', options);
  if (ifRevision === undefined) return null;
  if (ifRevision === 'none') {
    if (exists) throw refuse('it exists');
    return 0;
  }
  if (typeof ifRevision !== 'number' || !Number.isSafeInteger(ifRevision) || ifRevision < 0) {
    throw invalid('ifRevision', `must be a revision or 'none', got ${showSent(ifRevision)}`);
  }
  if (!exists) throw refuse('it does not exist');
  return ifRevision;
}

export function embeddedCaller({ by = 'library' }: ChangeOptions) {
  const name = givenText('by', by);
  if (name === '' || name.length > NAME_LENGTH_MAX) throw invalid('by', `must have 1 to ${NAME_LENGTH_MAX} characters`);
  return { name, how: 'library', requestId: randomUUID(), atMs: Date.now() };
}

/** Most characters, as in records (http/access/caller.ts). */
const NAME_LENGTH_MAX = 200;

/** Copies a mapping that JSON can hold. */
export function plainMapping(field: string, given: unknown): Definition {
  try {
    const copy = structuredClone(mappingOf(field, given));
    JSON.stringify(copy);
    return copy;
  } catch (error) {
    if (error instanceof QuotameshError) throw error;
    throw invalid(field, `cannot be written as JSON: ${(error as Error).message.split('\n', 1)[0]}`);
  }
}

export function mappingOf(field: string, given: unknown): Definition {
  if (isMapping(given)) return given;
  throw invalid(field, `must be an object, got ${showSent(given)}`);
}

export function givenText(field: string, given: unknown): string {
  if (typeof given === 'string') return given;
  throw invalid(field, `must be a text, got ${showSent(given)}`);
}

export function invalid(field: string, reason: string): QuotameshError {
  return new QuotameshError('FIELD_INVALID', { field, reason });
}
