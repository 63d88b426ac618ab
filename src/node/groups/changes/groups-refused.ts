import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { RefusedGroup } from '../../api/change-answers.js';

/** Refuses a batch as a whole: GROUPS_CHANGED if only revisions were wrong. */
export class GroupsRefused extends QuotameshError {
  /** First hundred mistakes. */
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

/** Errors per answer; 10,000 would be several megabytes. */
const ERRORS_MAX = 100;
const NAME_LENGTH_MAX = 200;
