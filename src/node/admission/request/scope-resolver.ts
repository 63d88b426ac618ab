import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { showSent } from '../../../base/input/input-mistakes.js';
import { isMapping } from '../../../base/input/mapping.js';
import { DIRECTION_COUNT, laneOf } from '../../../core/base/vocabulary.js';
import type { Scope } from '../../../core/beside/attachments/attachment.js';
import type { Attachments, Resolution } from '../../../core/beside/attachments/attachments.js';
import type { Amounts } from '../../api/decision.js';
import type { GroupNames } from './group-names.js';
import { rejectUnlessName } from './request-checks.js';

/** Work since the start. */
export interface WorkCounts {
  requests: number;
  messages: number;
  bytes: number;
}

/** Finds the groups that decide about a scope. */
export class ScopeResolver {
  /** Work that nothing limits, by direction. */
  readonly exempt: readonly WorkCounts[] = Array.from({ length: DIRECTION_COUNT }, () => {
    return { requests: 0, messages: 0, bytes: 0 };
  });
  readonly #attachments: Attachments;
  readonly #names: GroupNames;

  constructor(attachments: Attachments, names: GroupNames) {
    this.#attachments = attachments;
    this.#names = names;
  }

  /** Resolves a scope. Throws FIELD_INVALID, FIELD_UNKNOWN. */
  resolve(scope: Scope): Resolution {
    return this.#attachments.resolve(checkedScope(scope));
  }

  /**
   * Returns the lanes of a scope's groups, the most specific first; none = exempt. An unattached scope belongs to the
   * default group. Throws SCOPE_UNATTACHED without one, and GROUP_UNKNOWN if a group is gone.
   */
  lanesOf(scope: Scope, direction: number): readonly number[] {
    const { groups, exempt } = this.resolve(scope);
    const names = this.#names;
    if (groups.length > 0) return groups.map((group) => laneOf(names.indexOf(group), direction));
    if (exempt) return [];
    if (names.defaultGroup === null) throw new QuotameshError('SCOPE_UNATTACHED', { scope: scopeText(scope) });
    return [laneOf(names.indexOf(names.defaultGroup), direction)];
  }

  /** Returns the scope's only group or key; null = several, or none. */
  onlyGroupOf(scope: Scope): string | null {
    const { groups } = this.resolve(scope);
    return groups.length === 1 ? groups[0] : null;
  }

  countExempt(direction: number, { messages = 0, bytes = 0 }: Amounts): void {
    const counts = this.exempt[direction];
    counts.requests++;
    counts.messages = counted(counts.messages, messages);
    counts.bytes = counted(counts.bytes, bytes);
  }
}

/** Adds to a counter; restarts it at 0 before it is too large for single units. */
export function counted(sum: number, amount: number): number {
  return sum + amount > Number.MAX_SAFE_INTEGER ? amount : sum + amount;
}

/** Writes `tenant acme, namespace orders`, for people. */
export function scopeText(scope: Scope): string {
  const { headers, ...names } = scope;
  const all = Object.entries({ ...names, ...headers }).filter(([, value]) => value !== undefined);
  return all.map(([key, value]) => `${key} ${showSent(value)}`).join(', ') || 'nowhere';
}

const NAMES = ['tenant', 'namespace', 'topic', 'client'] as const;
/** Most headers of a scope. */
const HEADERS_MAX = 100;

function checkedScope(scope: Scope): Scope {
  // Else they would be scopes without a name, which belong to the default group.
  if ('then' in scope || Symbol.iterator in scope) {
    const reason = `must be a name, or a scope { ${NAMES.join(', ')}, headers }, got ${kindOf(scope)}`;
    throw new QuotameshError('FIELD_INVALID', { field: 'group', reason });
  }
  for (const key of Object.keys(scope)) {
    if (key === 'headers' || (NAMES as readonly string[]).includes(key)) continue;
    const near = `; known are ${NAMES.join(', ')}, headers`;
    throw new QuotameshError('FIELD_UNKNOWN', { field: key.slice(0, 80), near });
  }
  for (const name of NAMES) if (scope[name] !== undefined) rejectUnlessName(name, scope[name]);
  return scope.headers === undefined ? scope : { ...scope, headers: checkedHeaders(scope.headers) };
}

function kindOf(scope: object): string {
  if (Array.isArray(scope)) return showSent(scope);
  return 'then' in scope ? 'a promise' : `a ${scope.constructor?.name ?? 'list'}`;
}

function checkedHeaders(headers: unknown): Readonly<Record<string, string>> {
  const entries = isMapping(headers) ? Object.entries(headers) : null;
  if (entries === null || entries.length > HEADERS_MAX || entries.some(([, value]) => typeof value !== 'string')) {
    const reason = `must be an object of at most ${HEADERS_MAX} strings`;
    throw new QuotameshError('FIELD_INVALID', { field: 'headers', reason });
  }
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value as string]));
}
