import { json, listOf, PROBLEM, record } from '../route/answer-schemas.js';

const count = { type: 'integer', minimum: 0 } as const;
const text = { type: 'string' } as const;

const HOW = { type: 'string', enum: ['committed', 'cancelled'] } as const;

export const ENDED = json('The reservation has ended.', record({ ended: HOW }));

export const BODY_PROBLEMS = { 400: PROBLEM, 413: PROBLEM, 415: PROBLEM, 422: PROBLEM } as const;

export const ENDING_PROBLEMS = { ...BODY_PROBLEMS, 404: PROBLEM, 409: PROBLEM, 503: PROBLEM } as const;

export const BULK_ENDED = json(
  'One answer per commit, in their order.',
  record({
    answers: listOf({
      type: 'object',
      required: ['status'],
      additionalProperties: false,
      properties: { status: count, ended: HOW, code: text, detail: text, remedy: text },
    }),
  }),
);

export const COUNTS_ANSWERS = {
  200: json(
    'Since the start; `open`, `max` and `validMs` are of now.',
    record({
      open: count,
      committed: count,
      cancelled: count,
      expired: { ...count, description: 'Not ended in time: charged as estimated.' },
      full: { ...count, description: 'Refused, because `max` were open.' },
      max: count,
      validMs: { type: 'number' },
    }),
  ),
  422: PROBLEM,
} as const;
