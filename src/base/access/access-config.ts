import type { Role } from './caller.js';

/** Which caller may do what; docs/operate/access.md. */
export interface AccessConfig {
  readonly tokens: readonly TokenConfig[];
  readonly certificates: readonly CertificateRule[];
  /**
   * Failed logins of one address; more are refused with 429 unless the token has been let in from there
   * before.
   */
  readonly failuresPerMinute: number;
}

export interface GrantedRoles {
  readonly roles: readonly Role[];
  /** Changes are limited to attachments of these; null = of nothing. */
  readonly tenants: readonly string[] | null;
}

export interface TokenConfig extends GrantedRoles {
  readonly name: string;
  /** SHA-256 of the token, 64 hexadecimal digits. */
  readonly hash: string;
}

export interface CertificateRule extends GrantedRoles {
  /** `CN=broker-*`, `DNS:…`, `URI:…`, `email:…`. */
  readonly match: string;
  /** null = the caller is called by what matched. */
  readonly name: string | null;
}
