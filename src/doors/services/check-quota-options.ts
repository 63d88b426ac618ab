import { z } from 'zod';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { told } from '../../base/input/input-mistakes.js';
import { isMapping } from '../../base/input/mapping.js';
import { nodeOrOptionMistake } from '../../base/input/option-mistakes.js';
import { countOf } from '../../core/strict/budget-units.js';
import type { QuotaNode } from '../../node/api/quota-node.js';
import type { QuotaOptions } from './admission.js';

/** Rejects wrong options at the start of a service; `group` may be absent where others name it. */
export function rejectWrongQuota(
  node: QuotaNode,
  options: unknown,
  { isPartial }: { readonly isPartial: boolean },
): void {
  const mistake = nodeOrOptionMistake(node, isPartial ? OPTIONS.partial() : OPTIONS, options);
  if (mistake !== null) throw wrongQuota(mistake.field, mistake.reason);
}

/** Rejects asynchronous functions: their promise would be a scope without a name. */
export function rejectPromise(option: string, made: unknown): void {
  if (!isThenable(made)) return;
  // Else its rejection would end the process.
  made.then(undefined, () => undefined);
  throw wrongQuota(option, 'must be a function that answers at once, got a promise; ask for what it needs before');
}

function isThenable(made: unknown): made is PromiseLike<unknown> {
  return typeof made === 'object' && made !== null && typeof (made as PromiseLike<unknown>).then === 'function';
}

function wrongQuota(field: string, reason: string): QuotameshError {
  return new QuotameshError('OPTIONS_INVALID', { of: 'quota(): ', field, reason });
}

const isFunction = (given: unknown) => typeof given === 'function';
const isPlace = (given: unknown) => (typeof given === 'string' && given !== '') || isMapping(given);
const isAmount = (given: unknown) => Number.isSafeInteger(given) && (given as number) >= 0;
const isCents = (given: unknown) => typeof given === 'number' && !Number.isNaN(countOf('cents', given));
const isMappingOrFunction = (given: unknown) => isMapping(given) || isFunction(given);

/** Longest wait, ms, as `acquire` has it; longer ones would hold more requests in line. */
const WAIT_MS_MAX = 600_000;
const CENTS = 'a number ≥ 0 of at most six decimals, or a function of the request';
const AMOUNT = 'a whole number ≥ 0, or a function of the request';

const OPTIONS = z.strictObject({
  group: told(
    z.custom((given) => isPlace(given) || isFunction(given)),
    'the name of a group or key, a scope, or a function of the request',
  ),
  otherwise: told(z.custom(isPlace).optional(), 'the name of a group or key, or a scope'),
  limit: told(z.custom(isMappingOrFunction).optional(), 'a quota, or a function of the request'),
  messages: told(z.custom((given) => isAmount(given) || isFunction(given)).optional(), AMOUNT),
  bytes: told(z.custom((given) => isAmount(given) || isFunction(given)).optional(), AMOUNT),
  tokens: told(z.custom((given) => isAmount(given) || isFunction(given)).optional(), AMOUNT),
  cents: told(z.custom((given) => isCents(given) || isFunction(given)).optional(), CENTS),
  origin: told(
    z.custom(isMappingOrFunction).optional(),
    'an object of direction, topic, client, or a function of the request',
  ),
  waitMs: told(z.number().min(0).max(WAIT_MS_MAX).optional(), `a number of milliseconds from 0 to ${WAIT_MS_MAX}`),
  skip: told(z.custom(isFunction).optional(), 'a function of the request'),
  headers: told(z.enum(['draft', 'x', 'both', 'none']).optional(), '"draft", "x", "both" or "none"'),
  refusal: told(z.enum(['problem', 'framework']).optional(), '"problem" or "framework"'),
} satisfies Record<keyof Required<QuotaOptions<unknown>>, z.ZodType>);
