import type { Role } from './caller.js';

/** Rights of callers (docs/operate/access.md). */
export interface AccessConfig {
  readonly tokens: readonly TokenConfig[];
  readonly certificates: readonly CertificateRule[];
  /** Failed logins per address; more get 429, unless the token was let in from there before. */
  readonly failuresPerMinute: number;
}

export interface GrantedRoles {
  readonly roles: readonly Role[];
  /** Tenants whose attachments may change; null = all. */
  readonly tenants: readonly string[] | null;
}

export interface TokenConfig extends GrantedRoles {
  readonly name: string;
  /** SHA-256 of the token, 64 hexadecimal digits. */
  readonly hash: string;
}

export interface CertificateRule extends GrantedRoles {
  /** Patterns `CN=broker-*`, `DNS:…`, `URI:…`, `email:…`. */
  readonly match: string;
  /** Name; null = what matched. */
  readonly name: string | null;
}
