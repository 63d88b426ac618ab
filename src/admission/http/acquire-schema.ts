/** Doubles above this skip whole numbers; every maxRequest is below it. */
export const AMOUNT_MAX = Number.MAX_SAFE_INTEGER;

/** What POST /v1/acquire takes. Compiled once by fastify for validation, and printed by GET /openapi.json. */
export const ACQUIRE_BODY_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['group'],
  anyOf: [{ required: ['messages'] }, { required: ['bytes'] }],
  properties: {
    group: { type: 'string', minLength: 1, maxLength: 1024, description: 'A configured group.', examples: ['orders'] },
    direction: { type: 'string', enum: ['publish', 'dispatch'], default: 'publish' },
    messages: amount('Messages asked for; absent = 0, but at least one amount must be above 0.'),
    bytes: amount('Bytes asked for; absent = 0.'),
    retry: {
      type: 'boolean',
      default: false,
      description: 'This work was refused before and is tried again: it is not counted as demand twice.',
    },
  },
} as const;

export interface AcquireBody {
  readonly group: string;
  readonly direction?: 'publish' | 'dispatch';
  readonly messages?: number;
  readonly bytes?: number;
  readonly retry?: boolean;
}

/** Names with a meaning in a later version: today nobody may send them with another one. */
export const RESERVED_FIELDS: readonly string[] = [
  'topic',
  'tenant',
  'namespace',
  'client',
  'cost',
  'waitMs',
  'atMost',
];

function amount(description: string) {
  return { type: 'number', minimum: 0, maximum: AMOUNT_MAX, description, examples: [1] } as const;
}
