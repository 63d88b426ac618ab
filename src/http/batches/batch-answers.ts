import { json, listOf, PROBLEM, record } from '../route/answer-schemas.js';

const count = { type: 'integer', minimum: 0 } as const;
const text = { type: 'string' } as const;

const BODY_PROBLEMS = { 400: PROBLEM, 413: PROBLEM, 415: PROBLEM, 422: PROBLEM };

export const TAKE_ANSWERS = {
  200: json(
    'Taken; maybe less than asked for.',
    record({
      granted: { type: 'boolean' },
      id: text,
      messages: count,
      bytes: count,
      epoch: { type: ['integer', 'null'], description: 'The window that they came from; null where there is none.' },
      validMs: { type: 'number', description: 'So long something can be refunded.' },
    }),
  ),
  ...BODY_PROBLEMS,
  404: PROBLEM,
  429: PROBLEM,
  503: PROBLEM,
};

export const REFUND_ANSWERS = {
  200: json('The batch has ended.', record({ ended: { type: 'boolean' } })),
  ...BODY_PROBLEMS,
  404: PROBLEM,
  409: PROBLEM,
};

export const REFUNDS_ANSWERS = {
  200: json(
    'One answer per refund, in their order.',
    record({
      answers: listOf({
        type: 'object',
        required: ['status'],
        additionalProperties: false,
        properties: { status: count, ended: { type: 'boolean' }, code: text, detail: text, remedy: text },
      }),
    }),
  ),
  ...BODY_PROBLEMS,
};

export const BATCH_COUNTS_ANSWERS = {
  200: json(
    'Since the start; `open` is of now.',
    record({
      open: count,
      ended: { ...count, description: 'Refunded, or counted as used.' },
      expired: { ...count, description: 'Of those: not refunded in time, counted as used.' },
      refundsRefused: { ...count, description: 'Without a grant, late, twice, or too large.' },
      handBacksRefused: { ...count, description: 'The former name of refundsRefused.', deprecated: true },
    }),
  ),
  422: PROBLEM,
};
