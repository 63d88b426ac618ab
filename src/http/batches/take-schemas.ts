import { type AcquireBody, AMOUNT_MAX, BULK_MAX, HTTP_WAIT_MS_MAX, PLACE, WHERE } from '../acquire/acquire-schema.js';
import { json, listOf, PROBLEM, record } from '../route/answer-schemas.js';

const count = { type: 'integer', minimum: 0 } as const;
const text = { type: 'string' } as const;
const amount = (description: string) => ({ type: 'integer', minimum: 0, maximum: AMOUNT_MAX, description }) as const;

const ID = {
  type: 'string',
  description: 'That of the answer to POST /v1/take.',
  examples: ['9f86d081884c-17'],
} as const;

/** What POST /v1/take takes. */
export const TAKE_BODY = {
  type: 'object',
  additionalProperties: false,
  anyOf: WHERE.map((field) => ({ required: [field] })),
  oneOf: [{ required: ['all'] }, { anyOf: [{ required: ['messages'] }, { required: ['bytes'] }] }],
  properties: {
    ...PLACE,
    direction: { type: 'string', enum: ['publish', 'dispatch'], default: 'publish' },
    messages: amount('At most so many.'),
    bytes: amount('Of all these messages together; absent = 0.'),
    all: { type: 'boolean', enum: [true], description: 'Everything that the share of this node has now.' },
    retry: { type: 'boolean', default: false, description: 'Refused before: not counted as demand twice.' },
    waitMs: {
      ...{ type: 'number', minimum: 0, maximum: HTTP_WAIT_MS_MAX, default: 0 },
      description: 'Wait up to so long for the first message.',
    },
  },
} as const;

const LEFT = {
  id: ID,
  messages: amount('Not used: handed back.'),
  bytes: amount('Not used: handed back.'),
  dropped: {
    type: 'object',
    additionalProperties: false,
    properties: { messages: amount('Dropped.'), bytes: amount('Dropped.') },
    description: 'Dropped before it used what the quota protects: handed back, or counted, by the group’s `dropped`.',
  },
} as const;

export const HAND_BACK_BODY = {
  type: 'object',
  additionalProperties: false,
  required: ['id'],
  properties: LEFT,
} as const;

export const HAND_BACK_BATCH_BODY = {
  type: 'object',
  additionalProperties: false,
  required: ['handBacks'],
  properties: { handBacks: { type: 'array', minItems: 1, maxItems: BULK_MAX, items: HAND_BACK_BODY } },
} as const;

export const TAKE_ANSWERS = {
  200: json(
    'Taken; maybe less than asked for.',
    record({
      granted: { type: 'boolean' },
      id: text,
      messages: count,
      bytes: count,
      epoch: { type: ['integer', 'null'], description: 'The window that they came from; null where there is none.' },
      validMs: { type: 'number', description: 'So long something can be handed back.' },
    }),
  ),
  ...{ 400: PROBLEM, 404: PROBLEM, 413: PROBLEM, 415: PROBLEM, 422: PROBLEM, 429: PROBLEM, 503: PROBLEM },
} as const;

export const HAND_BACK_ANSWERS = {
  200: json('The batch has ended.', record({ ended: { type: 'boolean' } })),
  ...{ 400: PROBLEM, 404: PROBLEM, 409: PROBLEM, 413: PROBLEM, 415: PROBLEM, 422: PROBLEM },
} as const;

export const HAND_BACK_BATCH_ANSWERS = {
  200: json(
    'One answer per hand-back, in their order.',
    record({
      answers: listOf({
        ...{ type: 'object', required: ['status'], additionalProperties: false },
        properties: { status: count, ended: { type: 'boolean' }, code: text, detail: text, remedy: text },
      }),
    }),
  ),
  ...{ 400: PROBLEM, 413: PROBLEM, 415: PROBLEM, 422: PROBLEM },
} as const;

export const BATCH_COUNTS_ANSWERS = {
  200: json(
    'Since the start; `open` is of now.',
    record({
      open: count,
      ended: { ...count, description: 'Handed back, or counted as used.' },
      expired: { ...count, description: 'Of those: not handed back in time, counted as used.' },
      handBacksRefused: { ...count, description: 'Without a grant, late, twice, or too large.' },
    }),
  ),
  422: PROBLEM,
} as const;

export interface TakeBody extends Pick<AcquireBody, keyof typeof PLACE> {
  readonly direction?: 'publish' | 'dispatch';
  readonly messages?: number;
  readonly bytes?: number;
  readonly all?: true;
  readonly retry?: boolean;
  readonly waitMs?: number;
}
