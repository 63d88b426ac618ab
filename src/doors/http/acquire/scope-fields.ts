import { z } from 'zod';
import { type Caller, hasRole, type Role } from '../../../base/access/caller.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Scope } from '../../../core/beside/attachments/attachment.js';
import type { Amounts, Where } from '../../../node/api/decision.js';
import { anyOfFields, type Rule } from '../route/body.js';
import { amount, anyObject, choice, decimal, GROUP_LENGTH_MAX, name, textUpTo } from '../route/fields.js';
import { withAllowed } from '../route/wording.js';

/** At most a hundred headers, because every rule looks at each. */
const headers = z
  .record(z.string(), z.string())
  .refine((given) => Object.keys(given).length <= 100)
  .meta({
    maxProperties: 100,
    description: 'Headers of the work, for the rules of attachments. They stand instead of a group.',
  });

/** Fields that say whose work it is; a request has at least one. */
export const SCOPE_FIELDS = {
  group: textUpTo(
    GROUP_LENGTH_MAX,
    'The name of a configured group. Without it the groups follow from tenant, namespace, topic, client and headers.',
    'orders',
  ).exactOptional(),
  key: textUpTo(
    GROUP_LENGTH_MAX,
    'Another word for group, where the name is that of a key.',
    'key:alice',
  ).exactOptional(),
  tenant: name('The tenant whose attachments name the groups. It stands instead of a group.').exactOptional(),
  namespace: name('A namespace of the tenant. It stands instead of a group.').exactOptional(),
  headers: withAllowed(headers, 'must be an object of at most 100 strings').exactOptional(),
  topic: name('The topic that the work is for; perTopic and topics limit it.').exactOptional(),
  client: name('The client that does the work; perClient limits it, and clients that wait take turns.').exactOptional(),
};

export const DIRECTION = choice(['publish', 'dispatch']).exactOptional();

/** Fields for a budget alone; groups without such a budget take no notice. */
export const BUDGET_AMOUNTS = {
  tokens: amount(
    'The tokens of a model that the work may cost, where the group has a budget in tokens. No rate counts them.',
  ).exactOptional(),
  cents: decimal(
    'The cents that the work may cost, where the group has a budget in cents: at most six decimals.',
  ).exactOptional(),
};

/** Fields of work that has ended; the rest goes back to the budget. */
export const SPENT_AMOUNTS = {
  tokens: amount(
    'The tokens that the work has cost of a budget; absent means as many as it was entered with.',
  ).exactOptional(),
  cents: decimal(
    'The cents that the work has cost of a budget; absent means as many as it was entered with.',
  ).exactOptional(),
};

type Scoped = Readonly<z.output<z.ZodObject<typeof SCOPE_FIELDS>>>;

const SCOPE_NAMES = Object.keys(SCOPE_FIELDS) as (keyof Scoped)[];

export const NAMES_SCOPE: Rule<Scoped> = {
  isKept: (given) => SCOPE_NAMES.some((name) => given[name] !== undefined),
  mistake: (where) => {
    const reason = 'is missing: name the group, or tenant, namespace, topic, client or headers';
    return new QuotameshError('FIELD_INVALID', { field: `${where}group`, reason });
  },
  schema: anyOfFields(SCOPE_NAMES),
  explainedBy: SCOPE_NAMES,
};

export const NAMES_AMOUNT: Rule<Amounts> = {
  isKept: ({ messages, bytes }) => messages !== undefined || bytes !== undefined,
  mistake: (where) => {
    const facts = { field: `${where}messages and ${where}bytes`, reason: 'are both absent: name at least one' };
    return new QuotameshError('AMOUNT_INVALID', facts);
  },
  schema: anyOfFields(['messages', 'bytes']),
  explainedBy: 'any-unknown-field',
};

/** Returns the group, or the scope whose groups decide. Throws FIELD_INVALID where both are named. */
export function whereOf(asked: Scoped): Where {
  const name = nameIn(asked);
  if (name === undefined) return scopeOf(asked);
  // No object for a group alone: a bulk may have a thousand.
  if (asked.tenant !== undefined) throw besidesGroup('tenant');
  if (asked.namespace !== undefined) throw besidesGroup('namespace');
  if (asked.headers !== undefined) throw besidesGroup('headers');
  return name;
}

/** Returns the name of the group or key; undefined = a scope. Throws FIELD_INVALID where both are named. */
export function nameIn({ group: named, key: keyed }: Scoped): string | undefined {
  if (named !== undefined && keyed !== undefined) throw besidesGroup('key');
  return named ?? keyed;
}

function besidesGroup(field: keyof Scope | 'key'): QuotameshError {
  return new QuotameshError('FIELD_INVALID', { field, reason: 'must be absent where group is given' });
}

function scopeOf({ tenant, namespace, headers: given, topic, client }: Scoped): Scope {
  const named = Object.entries({ tenant, namespace, headers: given, topic, client });
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}

/** Limit of a key; its template bounds it. */
export const KEY_LIMIT = anyObject(
  'A quota for the key, as it stands below quota in YAML: {"publish":{"messagesPerSecond":"600/min"}}. The key has it at this node until another one comes; its template must allow limits (allowLimits).',
).exactOptional();

export function rejectLimitOf(keys: KeyRoles | null, caller: Caller, asked: Scoped): void {
  const name = nameIn(asked);
  if (keys === null || name === undefined) return;
  const role = keys.roleForLimits(name);
  if (role === null || hasRole(caller, role)) return;
  throw keys.limitDenied(name, `${caller.name} has not the role ${role}`);
}

interface KeyRoles {
  roleForLimits(name: string): Role | null;
  limitDenied(name: string, reason: string): QuotameshError;
}
