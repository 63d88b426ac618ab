import { NAME_MAX } from '../../admission/request/request-checks.js';
import type { Where } from '../../api/decision.js';
import type { ReportedCost } from '../../api/reported-cost.js';
import type { Scope } from '../../core/attachments/attachment.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import { COST } from './cost-schema.js';

/** Doubles above this skip whole numbers; every maxRequest is below it. */
export const AMOUNT_MAX = Number.MAX_SAFE_INTEGER;
/** Of a name, in characters; what is longer is none. */
export const GROUP_LENGTH_MAX = 1024;
/** Longest wait over HTTP: load balancers between give up after a minute. */
export const HTTP_WAIT_MS_MAX = 55_000;
/** Asks of one batch: about 0.5 ms of the event loop. */
export const BULK_MAX = 1000;

const COMMON = {
  group: {
    type: 'string',
    minLength: 1,
    maxLength: GROUP_LENGTH_MAX,
    description: 'A configured group. Without one the groups follow from tenant, namespace, topic, client and headers.',
    examples: ['orders'],
  },
  tenant: { type: 'string', maxLength: NAME_MAX, description: 'Instead of a group: see attachments.' },
  namespace: { type: 'string', maxLength: NAME_MAX, description: 'Of the tenant; instead of a group.' },
  headers: {
    type: 'object',
    maxProperties: 100,
    additionalProperties: { type: 'string' },
    description: 'Headers of the work that rules of attachments look at; instead of a group.',
  },
  direction: { type: 'string', enum: ['publish', 'dispatch'], default: 'publish' },
  messages: amount('Messages asked for; absent = 0, but at least one amount must be above 0.'),
  bytes: amount('Bytes asked for; absent = 0.'),
  retry: {
    type: 'boolean',
    default: false,
    description: 'This work was refused before and is tried again: it is not counted as demand twice.',
  },
  topic: { type: 'string', maxLength: NAME_MAX, description: 'What the work is for: see perTopic and topics.' },
  client: { type: 'string', maxLength: NAME_MAX, description: 'Who does the work: see perClient; waits take turns.' },
  atMost: {
    type: 'boolean',
    default: false,
    description:
      'Grant a part if the whole is not there: whole messages, at least one. The answer says how much. Not together with waitMs, cost, reserve, or priority immediate.',
  },
  priority: {
    type: 'string',
    enum: ['default', 'immediate'],
    default: 'default',
    description:
      'immediate = granted whatever is there, and charged: it may leave a debt, which the others wait for. Not together with cost, reserve, atMost or waitMs.',
  },
  cost: {
    ...COST,
    description:
      'What it will cost, as far as known: the answer has an `id`, and the actual cost follows by POST /v1/commit. Counts where that never comes.',
  },
  reserve: {
    type: 'boolean',
    default: false,
    description:
      'As with `cost`, where amounts alone are to be corrected afterwards. Not together with atMost or waitMs.',
  },
} as const;

const { group, tenant, namespace, topic, client, headers } = COMMON;
/** Whose work it is: at least one of them. */
export const PLACE = { group, tenant, namespace, topic, client, headers } as const;
export const WHERE = ['group', 'tenant', 'namespace', 'topic', 'client', 'headers'] as const;

/** What POST /v1/acquire takes. Compiled once by fastify for validation, and printed by GET /openapi.json. */
export const ACQUIRE_BODY_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  anyOf: [{ required: ['messages'] }, { required: ['bytes'] }],
  allOf: [{ anyOf: WHERE.map((field) => ({ required: [field] })) }],
  properties: {
    ...COMMON,
    waitMs: {
      type: 'number',
      minimum: 0,
      maximum: HTTP_WAIT_MS_MAX,
      default: 0,
      description:
        'Wait up to so long for the turn of this request; then it is refused. Not together with atMost, cost, reserve, or priority immediate.',
    },
  },
} as const;

export const ACQUIRE_PATH = '/v1/acquire';
export const BULK_PATH = '/v1/acquire/batch';

/** What POST /v1/acquire/batch takes: each ask is decided by itself, in order, at once. */
export const BULK_BODY_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['asks'],
  properties: {
    asks: {
      type: 'array',
      minItems: 1,
      maxItems: BULK_MAX,
      items: { ...ACQUIRE_BODY_SCHEMA, properties: COMMON },
    },
  },
} as const;

export interface AcquireBody {
  readonly group?: string;
  readonly tenant?: string;
  readonly namespace?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly direction?: 'publish' | 'dispatch';
  readonly messages?: number;
  readonly bytes?: number;
  readonly retry?: boolean;
  readonly topic?: string;
  readonly client?: string;
  readonly atMost?: boolean;
  readonly waitMs?: number;
  readonly priority?: 'default' | 'immediate';
  readonly cost?: ReportedCost;
  readonly reserve?: boolean;
}

export interface BatchBody {
  readonly asks: readonly AcquireBody[];
}

/** The group, or the place whose groups are looked up. Throws FIELD_INVALID where both are named. */
export function whereOf({ group, tenant, namespace, topic, client, headers }: AcquireBody): Where {
  if (group === undefined) return withoutUndefined({ tenant, namespace, headers, topic, client });
  // Nearly every ask names a group alone, and a batch has a thousand of them: nothing is made for it.
  if (tenant !== undefined) throw besidesGroup('tenant');
  if (namespace !== undefined) throw besidesGroup('namespace');
  if (headers !== undefined) throw besidesGroup('headers');
  return group;
}

function besidesGroup(field: keyof Scope): QuotameshError {
  return new QuotameshError('FIELD_INVALID', { field, reason: 'must be absent where group is given' });
}

function withoutUndefined(place: Readonly<Record<keyof Scope, unknown>>): Scope {
  return Object.fromEntries(Object.entries(place).filter(([, value]) => value !== undefined));
}

function amount(description: string) {
  return { type: 'integer', minimum: 0, maximum: AMOUNT_MAX, description, examples: [1] } as const;
}
