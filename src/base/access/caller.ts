import { QuotameshError } from '../errors/quotamesh-error.js';

/** Roles of callers; docs/operate/access.md has the table. */
export const ROLES = ['admin', 'operator', 'consume', 'traffic', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

export interface Caller {
  /** Name of the token or certificate; without `auth:` "loopback", or the other machine's address. */
  readonly name: string;
  readonly roles: readonly Role[];
  /** Tenants whose attachments it may change; null = all. */
  readonly tenants: readonly string[] | null;
  /** Proof; 'open' = there is no `auth:`. */
  readonly how: 'token' | 'certificate' | 'open';
}

/** Required role; 'any' = one of them; 'open' = not even a name. */
export type Need = Role | 'any' | 'open';

export function hasRole({ roles }: Caller, need: Need): boolean {
  return roles.some((role) => SUFFICIENT[need].includes(role));
}

export function roleMissing({ name, roles }: Caller, need: Need, what: string): QuotameshError {
  return new QuotameshError('ROLE_MISSING', { caller: name, needs: need, roles: roles.join(', '), what });
}

/** Roles that meet a need; none includes all, to bound what a leaked token does. */
const SUFFICIENT: Readonly<Record<Need, readonly Role[]>> = {
  open: ROLES,
  any: ROLES,
  viewer: ['viewer', 'operator', 'admin'],
  traffic: ['traffic', 'consume', 'admin'],
  consume: ['consume', 'admin'],
  operator: ['operator', 'admin'],
  admin: ['admin'],
};
