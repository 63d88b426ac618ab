import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { ReportedCost } from '../../../node/api/quota-node.js';
import { checkCost } from '../../../node/backends/report-cost.js';
import { body } from '../route/body.js';
import { amount, bulkOf, choice, flag, HTTP_WAIT_MS_MAX, milliseconds } from '../route/fields.js';
import { withAllowed } from '../route/wording.js';
import { BUDGET_AMOUNTS, DIRECTION, KEY_LIMIT, NAMES_AMOUNT, NAMES_SCOPE, SCOPE_FIELDS } from './scope-fields.js';

const units = () => z.number().min(0).exactOptional();

/** Cost on one backend, or on none; judged by the library. */
export const COST = withAllowed(
  z.strictObject({
    backend: z.string().exactOptional(),
    units: units(),
    readBytes: units(),
    writtenBytes: units(),
    clearedBytes: units(),
  }),
  costMistake,
);

function costMistake(field: string, sent: unknown): QuotameshError {
  try {
    checkCost(sent as ReportedCost, `${field}: `);
  } catch (error) {
    if (error instanceof QuotameshError) return error;
  }
  return new QuotameshError('COST_INVALID', { field, reason: 'is not a cost' });
}

const COMMON = {
  ...SCOPE_FIELDS,
  direction: DIRECTION,
  limit: KEY_LIMIT,
  messages: amount(
    'The number of messages that are asked for. Absent means 0, but at least one amount must be above 0.',
  ).exactOptional(),
  bytes: amount('The number of bytes that are asked for. Absent means 0.').exactOptional(),
  ...BUDGET_AMOUNTS,
  retry: flag(
    'True if this work was refused before and is tried again, so that it is not counted as demand twice.',
  ).exactOptional(),
  atMost: flag(
    'True grants a part where the whole is not there: whole messages, at least one. The answer has their number. It may not stand beside waitMs, cost, reserve, or priority immediate.',
  ).exactOptional(),
  priority: choice(
    ['default', 'immediate'],
    'With immediate all is granted and charged, whatever tokens there are; it may leave a debt of this node. It takes the role consume. It may not stand beside cost, reserve, atMost or waitMs.',
  ).exactOptional(),
  cost: COST.exactOptional().meta({
    description:
      'The cost of the work, as far as it is known. The answer has an `id`, under which POST /v1/commit reports the actual cost; where it never does, the estimate counts.',
  }),
  reserve: flag(
    'True makes a reservation without a cost: the answer has an `id`, under which the amounts can be corrected. It may not stand beside atMost or waitMs.',
  ).exactOptional(),
};

const RULES = [NAMES_AMOUNT, NAMES_SCOPE];

export const ACQUIRE_BODY = body(
  {
    ...COMMON,
    waitMs: milliseconds(
      HTTP_WAIT_MS_MAX,
      'The milliseconds that the request waits for its turn; then it is refused. It may not stand beside atMost, cost, reserve, or priority immediate.',
    ).exactOptional(),
  },
  RULES,
);

/** Body of POST /v1/acquire/bulk: requests decided one by one, in order, at once. */
export const BULK_BODY = body({ requests: bulkOf(body(COMMON, RULES), 'requests') });

export type AcquireBody = Readonly<z.output<typeof ACQUIRE_BODY>>;

export const ACQUIRE_PATH = '/v1/acquire';
