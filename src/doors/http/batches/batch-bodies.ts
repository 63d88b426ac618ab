import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { DIRECTION, KEY_LIMIT, NAMES_AMOUNT, NAMES_SCOPE, SCOPE_FIELDS } from '../acquire/scope-fields.js';
import { body } from '../route/body.js';
import { amount, bulkOf, flag, HTTP_WAIT_MS_MAX, milliseconds } from '../route/fields.js';
import { judgedLater, withAllowed } from '../route/wording.js';

const all = z.literal(true).meta({ description: 'True takes everything that the share of this node has now.' });

export const TAKE_BODY = body(
  {
    ...SCOPE_FIELDS,
    direction: DIRECTION,
    limit: KEY_LIMIT,
    messages: amount('The most messages that are taken.').exactOptional(),
    bytes: amount('The bytes of all these messages together; absent means 0.').exactOptional(),
    all: withAllowed(all, 'must be true, or absent').exactOptional(),
    retry: flag('True if this work was refused before, so that it is not counted as demand twice.').exactOptional(),
    waitMs: milliseconds(HTTP_WAIT_MS_MAX, 'How long to wait for the first message, in milliseconds.').exactOptional(),
  },
  [
    NAMES_SCOPE,
    {
      isKept: (wanted) => wanted.all !== undefined || NAMES_AMOUNT.isKept(wanted),
      mistake: NAMES_AMOUNT.mistake,
      explainedBy: 'any-unknown-field',
    },
    {
      isKept: ({ all: everything, messages, bytes }) =>
        everything === undefined || (messages === undefined && bytes === undefined),
      mistake: (where) =>
        new QuotameshError('FIELD_INVALID', { field: `${where}all`, reason: 'excludes messages and bytes' }),
      schema: { oneOf: [{ required: ['all'] }, { anyOf: [{ required: ['messages'] }, { required: ['bytes'] }] }] },
    },
  ],
);

const id = z.string().meta({ description: 'The `id` in the answer to POST /v1/take.', examples: ['9f86d081884c-17'] });

const dropped = body({
  messages: amount('How many messages were dropped.').exactOptional(),
  bytes: amount('How many bytes were dropped.').exactOptional(),
}).meta({
  description:
    'Work that was dropped before it used what the quota protects. The setting `dropped` of the group says whether it is refunded or counted.',
});

export const REFUND_BODY = body({
  id: withAllowed(id, 'must be the id of the answer to POST /v1/take'),
  messages: amount('How many messages were not used, and are refunded.').exactOptional(),
  bytes: amount('How many bytes were not used, and are refunded.').exactOptional(),
  dropped: dropped.exactOptional(),
});

export const REFUNDS_BODY = body({ refunds: bulkOf(judgedLater(REFUND_BODY), 'refunds') });
