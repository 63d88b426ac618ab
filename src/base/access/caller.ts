/** What a caller may do; docs/operate/access.md has the table. */
export const ROLES = ['admin', 'operator', 'consume', 'traffic', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** The caller of a request. */
export interface Caller {
  /** Name of the token or certificate; without `auth:` "loopback", or the address of the other machine. */
  readonly name: string;
  readonly roles: readonly Role[];
  /** Only attachments of these tenants may be changed; null = of all. */
  readonly tenants: readonly string[] | null;
  /** How that is known. 'open': there is no `auth:`. */
  readonly how: 'token' | 'certificate' | 'open';
}

/** What something asks of its caller: a role; 'any' role; 'open' = nothing, not even a name. */
export type Need = Role | 'any' | 'open';

export function hasRole({ roles }: Caller, need: Need): boolean {
  return roles.some((role) => SUFFICIENT[need].includes(role));
}

/**
 * An operator cannot use up quotas, and whoever uses them cannot change or look at them: a token that leaks from a
 * dashboard, a pipeline or a broker does no more than its place needs.
 */
const SUFFICIENT: Readonly<Record<Need, readonly Role[]>> = {
  open: ROLES,
  any: ROLES,
  viewer: ['viewer', 'operator', 'admin'],
  traffic: ['traffic', 'consume', 'admin'],
  consume: ['consume', 'admin'],
  operator: ['operator', 'admin'],
  admin: ['admin'],
};
