import { NODES } from './front-proxy.js';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit';

interface FilterSettings {
  /** True = a request about which no node answers is refused (500), else it passes. */
  readonly failureModeDeny?: boolean;
}

/** Envoy's filter that asks the rate limit service about each request, with the descriptors of the route. */
export function rateLimitFilter(domain: string, { failureModeDeny = true }: FilterSettings = {}): object {
  const service = { grpc_service: { envoy_grpc: { cluster_name: NODES } }, transport_api_version: 'V3' };
  const config = {
    '@type': TYPE,
    domain,
    // Long enough for a busy machine: an answer that is late would pass for one.
    timeout: '2s',
    failure_mode_deny: failureModeDeny,
    rate_limit_service: service,
    enable_x_ratelimit_headers: 'DRAFT_VERSION_03',
  };
  return { name: 'envoy.filters.http.ratelimit', typed_config: config };
}

/** The descriptor `(key, value of x-tenant)`. */
export function tenantDescriptor(key: string): object {
  return { actions: [{ request_headers: { header_name: 'x-tenant', descriptor_key: key } }] };
}
