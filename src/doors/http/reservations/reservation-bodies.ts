import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { COST } from '../acquire/acquire-body.js';
import { body, type Rule } from '../route/body.js';
import { amount, bulkOf, flag } from '../route/fields.js';
import { judgedLater, withAllowed } from '../route/wording.js';

const text = z.string().meta({ description: 'The `id` in the answer to the acquire.', examples: ['9f86d081884c-17'] });
const id = withAllowed(text, 'must be the id of an acquire’s answer');

const costs = z
  .array(COST)
  .min(1)
  .meta({ description: 'The actual costs, as POST /v1/costs takes them. Absent means that they were as estimated.' });

const ACTUAL = {
  id,
  messages: amount(
    'How many messages there were; absent means as many as estimated. The difference is given back or charged.',
  ).exactOptional(),
  bytes: amount('How many bytes there were; absent means as many as estimated.').exactOptional(),
  costs: withAllowed(costs, 'must be an array of at least one cost').exactOptional(),
};

export const COMMIT_BODY = body(ACTUAL);

export const CANCEL_BODY = body({ id });

interface Ended {
  readonly cancel?: boolean;
  readonly messages?: unknown;
  readonly bytes?: unknown;
  readonly costs?: unknown;
}

const CANCELS_ALL: Rule<Ended> = {
  isKept: ({ cancel = false, ...actual }) => !cancel || (actual.messages ?? actual.bytes ?? actual.costs) === undefined,
  mistake: (where) => {
    const reason = 'excludes messages, bytes and costs: nothing has been done';
    return new QuotameshError('FIELD_INVALID', { field: `${where}cancel`, reason });
  },
};

export const ENDING = body(
  { ...ACTUAL, cancel: flag('True if the work was not done: everything is given back.').exactOptional() },
  [CANCELS_ALL],
);

export const COMMITS_BODY = body({ commits: bulkOf(judgedLater(ENDING), 'endings') });
