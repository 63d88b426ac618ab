import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Need } from '../../../base/access/caller.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Mapping } from '../../../base/input/mapping.js';

/** Access that a route requires, as `config.access`; a route without one fails at the start. */
export interface RouteAccess {
  readonly needs: Need;
  /** True = groups or attachments change: remote callers need `auth:`, or registry.remoteChanges. */
  readonly changes: boolean;
  /** Names the tenant whose attachment changes; null = none. Callers with tenants may change nothing else. */
  readonly tenantOf: TenantOf | null;
  /** True = anybody may ask: the answer holds nothing of the cluster. */
  readonly isOpenTo?: (headers: IncomingHttpHeaders) => boolean;
}

type TenantOf = (params: Readonly<Record<string, unknown>>) => string;

export function needs(need: Need): RouteAccess {
  return { needs: need, changes: false, tenantOf: null };
}

export function changes(tenantOf: TenantOf | null): RouteAccess {
  return { needs: 'operator', changes: true, tenantOf };
}

/** Rejects what tenants' callers may not do: lift limits, or attach to foreign groups. Throws TENANT_DENIED. */
export function rejectBeyondTenants({ name, tenants }: Caller, { exempt, sameAs }: Mapping): void {
  if (tenants === null) return;
  if (exempt === true) throw tenantDenied(name, tenants, 'exempt: true, which takes their limits away');
  if (typeof sameAs !== 'string' || tenants.includes(sameAs.split('/', 1)[0])) return;
  throw tenantDenied(name, tenants, `sameAs of ${sameAs.slice(0, 200)}`);
}

export function tenantDenied(caller: string, tenants: readonly string[], what: string): QuotameshError {
  return new QuotameshError('TENANT_DENIED', { caller, tenants: tenants.join(', '), what });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: RouteAccess;
  }
}
