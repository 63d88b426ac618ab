/** What a caller may do; docs/access.md has the table. */
export type Role = 'admin' | 'operator' | 'traffic' | 'viewer';

export const ROLES: readonly Role[] = ['admin', 'operator', 'traffic', 'viewer'];

/** Who asks. */
export interface Caller {
  /** Of the token or certificate; without `auth:` "loopback", or the address of the other machine. */
  readonly name: string;
  readonly roles: readonly Role[];
  /** Only attachments of these tenants may be changed; null = of all. */
  readonly tenants: readonly string[] | null;
  /** How that is known. 'open': there is no `auth:`. */
  readonly how: 'token' | 'certificate' | 'open';
}
