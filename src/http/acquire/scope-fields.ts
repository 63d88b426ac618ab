import { z } from 'zod';
import type { Where } from '../../api/decision.js';
import type { Scope } from '../../core/attachments/attachment.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import { anyOfFields, choice, GROUP_LENGTH_MAX, name, type Rule, told } from '../route/fields.js';

const group = z
  .string()
  .min(1)
  .max(GROUP_LENGTH_MAX)
  .meta({
    description:
      'The name of a configured group. Without it the groups follow from tenant, namespace, topic, client and headers.',
    examples: ['orders'],
  });

/** A hundred headers are more than any client sends; each is looked at by every rule. */
const headers = z
  .record(z.string(), z.string())
  .refine((given) => Object.keys(given).length <= 100)
  .meta({
    maxProperties: 100,
    description: 'Headers of the work, for the rules of attachments. They stand instead of a group.',
  });

/** Whose work it is: at least one of them. */
export const SCOPE_FIELDS = {
  group: told(group, `must be a string of 1 to ${GROUP_LENGTH_MAX} characters`).exactOptional(),
  tenant: name('The tenant whose attachments name the groups. It stands instead of a group.').exactOptional(),
  namespace: name('A namespace of the tenant. It stands instead of a group.').exactOptional(),
  headers: told(headers, 'must be an object of at most 100 strings').exactOptional(),
  topic: name('The topic that the work is for; perTopic and topics limit it.').exactOptional(),
  client: name('The client that does the work; perClient limits it, and clients that wait take turns.').exactOptional(),
};

export const DIRECTION = choice(['publish', 'dispatch']).exactOptional();

/** The fields of a body that say whose work it is. */
export type Scoped = Readonly<z.output<z.ZodObject<typeof SCOPE_FIELDS>>>;

export const NAMES_SCOPE: Rule<Scoped> = {
  isKept: ({ group: named, topic, client, tenant, namespace, headers: given }) =>
    (named ?? topic ?? client ?? tenant ?? namespace ?? given) !== undefined,
  mistake: (where) => {
    const reason = 'is missing: name the group, or tenant, namespace, topic, client or headers';
    return new QuotameshError('FIELD_INVALID', { field: `${where}group`, reason });
  },
  schema: anyOfFields(Object.keys(SCOPE_FIELDS)),
};

interface Amounted {
  readonly messages?: number;
  readonly bytes?: number;
  readonly all?: true;
}

export const NAMES_AMOUNT: Rule<Amounted> = {
  isKept: ({ messages, bytes }) => messages !== undefined || bytes !== undefined,
  mistake: (where) => {
    const facts = { field: `${where}messages and ${where}bytes`, reason: 'are both absent: name at least one' };
    return new QuotameshError('AMOUNT_INVALID', facts);
  },
  schema: anyOfFields(['messages', 'bytes']),
  isImpliedByUnknown: true,
};

/** The group, or the place whose groups are looked up. Throws FIELD_INVALID where both are named. */
export function whereOf(asked: Scoped): Where {
  if (asked.group === undefined) return placeOf(asked);
  // Nearly every request names a group alone, and a bulk has a thousand of them: nothing is made for it.
  if (asked.tenant !== undefined) throw besidesGroup('tenant');
  if (asked.namespace !== undefined) throw besidesGroup('namespace');
  if (asked.headers !== undefined) throw besidesGroup('headers');
  return asked.group;
}

function besidesGroup(field: keyof Scope): QuotameshError {
  return new QuotameshError('FIELD_INVALID', { field, reason: 'must be absent where group is given' });
}

function placeOf({ tenant, namespace, headers: given, topic, client }: Scoped): Scope {
  const named = Object.entries({ tenant, namespace, headers: given, topic, client });
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}
