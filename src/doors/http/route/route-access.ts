import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Need } from '../../../base/access/caller.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Mapping } from '../../../base/input/mapping.js';

/**
 * What a route asks of its caller. Every route declares it as `config.access`; one that does not fails at the start.
 */
export interface RouteAccess {
  readonly needs: Need;
  /**
   * Whether groups or attachments change. Without `auth:` only callers of this machine may change them, unless
   * registry.remoteChanges is on.
   */
  readonly changes: boolean;
  /** Names the tenant whose attachment changes; null = none does. Callers with tenants may change nothing else. */
  readonly tenantOf: TenantOf | null;
  /** What is answered to requests like this one holds nothing of the cluster: nobody has to say who asks. */
  readonly isOpenTo?: (headers: IncomingHttpHeaders) => boolean;
}

type TenantOf = (params: Readonly<Record<string, unknown>>) => string;

export function needs(need: Need): RouteAccess {
  return { needs: need, changes: false, tenantOf: null };
}

/** The route changes what the registry holds. */
export function changes(tenantOf: TenantOf | null): RouteAccess {
  return { needs: 'operator', changes: true, tenantOf };
}

/**
 * A caller that speaks for some tenants may neither lift their limits nor attach them to whatever another tenant is
 * attached to. Throws TENANT_DENIED.
 */
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
