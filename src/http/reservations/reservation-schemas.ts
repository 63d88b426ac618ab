import { BULK_MAX } from '../acquire/acquire-schema.js';
import { COST } from '../acquire/cost-schema.js';
import { json, listOf, PROBLEM, record } from '../route/answer-schemas.js';

const count = { type: 'integer', minimum: 0 } as const;
const text = { type: 'string' } as const;

const ID = { type: 'string', description: 'That of the acquire’s answer.', examples: ['9f86d081884c-17'] } as const;

const ACTUAL = {
  id: ID,
  messages: { ...count, description: 'What it was; absent = as estimated. The difference is given back or charged.' },
  bytes: { ...count, description: 'What it was; absent = as estimated.' },
  costs: { type: 'array', minItems: 1, items: COST, description: 'As for POST /v1/costs; absent = as estimated.' },
} as const;

export const COMMIT_BODY = {
  type: 'object',
  additionalProperties: false,
  required: ['id'],
  properties: ACTUAL,
} as const;

export const CANCEL_BODY = {
  type: 'object',
  additionalProperties: false,
  required: ['id'],
  properties: { id: ID },
} as const;

export const COMMIT_BATCH_BODY = {
  type: 'object',
  additionalProperties: false,
  required: ['commits'],
  properties: {
    commits: {
      type: 'array',
      minItems: 1,
      maxItems: BULK_MAX,
      items: {
        ...COMMIT_BODY,
        properties: { ...ACTUAL, cancel: { type: 'boolean', default: false, description: 'The work was not done.' } },
      },
    },
  },
} as const;

const HOW = { type: 'string', enum: ['committed', 'cancelled'] } as const;

export const ENDED = json('The reservation has ended.', record({ ended: HOW }));

export const BODY_PROBLEMS = { 400: PROBLEM, 413: PROBLEM, 415: PROBLEM, 422: PROBLEM } as const;

export const ENDING_PROBLEMS = { ...BODY_PROBLEMS, 404: PROBLEM, 409: PROBLEM, 503: PROBLEM } as const;

export const BATCH_ENDED = json(
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
