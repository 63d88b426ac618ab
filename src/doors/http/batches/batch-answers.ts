import { z } from 'zod';
import { BODY_PROBLEMS, count, json, listOf, number, PROBLEM, record, text, yes } from '../route/answer-schemas.js';

export const TAKE_ANSWERS = {
  200: json(
    'Taken; maybe less than asked for.',
    record({
      granted: yes,
      id: text,
      messages: count,
      bytes: count,
      epoch: z.int().nullable().meta({
        description: 'The number of the window that the tokens came from; null where the group has no windows.',
      }),
      validMs: number.meta({ description: 'How many milliseconds tokens of the batch can be refunded.' }),
    }),
  ),
  ...BODY_PROBLEMS,
  404: PROBLEM,
  429: PROBLEM,
  503: PROBLEM,
};

export const REFUND_ANSWERS = {
  200: json('The batch has ended.', record({ ended: yes })),
  ...BODY_PROBLEMS,
  404: PROBLEM,
  409: PROBLEM,
};

const REFUNDED = z.strictObject({
  status: count,
  ended: yes.optional(),
  code: text.optional(),
  detail: text.optional(),
  remedy: text.optional(),
});

export const REFUNDS_ANSWERS = {
  200: json('One answer per refund, in their order.', record({ answers: listOf(REFUNDED) })),
  ...BODY_PROBLEMS,
};

export const BATCH_COUNTS_ANSWERS = {
  200: json(
    'Since the start; `open` is of now.',
    record({
      open: count,
      ended: count.meta({ description: 'How many batches have ended: refunded, or counted as used.' }),
      expired: count.meta({
        description: 'How many of the ended ones were not refunded in time, and are counted as used.',
      }),
      refundsRefused: count.meta({
        description: 'How many refunds were refused: for no batch, too late, twice, or too large.',
      }),
    }),
  ),
  422: PROBLEM,
};
