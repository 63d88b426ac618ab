import { QuotameshError } from '../../../base/errors/quotamesh-error.js';

/** A group of a batch that was refused, and why: members of a problem (RFC 9457). */
export interface RefusedGroup {
  readonly group: string;
  readonly code: string;
  readonly detail: string;
  readonly remedy: string;
  /** HTTP status that the change would have had alone. */
  readonly status: number;
}

/** A batch of changes was refused as a whole: GROUPS_CHANGED if nothing but expected revisions was wrong. */
export class GroupsRefused extends QuotameshError {
  /** The first hundred. */
  readonly errors: readonly RefusedGroup[];

  constructor(refusals: readonly RefusedGroup[], of: number) {
    const isLate = refusals.every(({ code }) => code === 'GROUP_CHANGED');
    const first = refusals[0]?.detail ?? '';
    super(isLate ? 'GROUPS_CHANGED' : 'GROUPS_INVALID', { count: refusals.length, of, first });
    this.errors = refusals.slice(0, ERRORS_MAX);
  }
}

export function refusedGroup(group: string, error: QuotameshError): RefusedGroup {
  const { code, message: detail, remedy, httpStatus: status } = error;
  return { group: group.slice(0, NAME_LENGTH_MAX), status, code, detail, remedy };
}

/** A caller corrects no more at once, and 10,000 errors would be an answer of several megabytes. */
const ERRORS_MAX = 100;
const NAME_LENGTH_MAX = 200;
