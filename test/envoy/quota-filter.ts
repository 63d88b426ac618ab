import { NODES } from './front-proxy.js';

const TYPES = 'type.googleapis.com/envoy';
const HEADER_INPUT = `${TYPES}.type.matcher.v3.HttpRequestHeaderMatchInput`;

export interface QuotaFilter {
  readonly domain: string;
  /** Sent with the stream, so that nodes can name the Envoy. */
  readonly name: string;
  /** Fate of requests whose assignment has ended, and of those without one yet. */
  readonly expired: 'ALLOW_ALL' | 'DENY_ALL';
}

/** Envoy's quota filter: a bucket for each value of the header x-tenant, `{ tenant: value }`. */
export function quotaFilter({ domain, name, expired }: QuotaFilter): object {
  const tenant = { '@type': HEADER_INPUT, header_name: 'x-tenant' };
  const input = { name: 'tenant', typed_config: tenant };
  const settings = {
    '@type': `${TYPES}.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaBucketSettings`,
    bucket_id_builder: { bucket_id_builder: { tenant: { custom_value: input } } },
    reporting_interval: '5s',
    no_assignment_behavior: { fallback_rate_limit: { blanket_rule: 'ALLOW_ALL' } },
    expired_assignment_behavior: {
      expired_assignment_behavior_timeout: '600s',
      fallback_rate_limit: { blanket_rule: expired },
    },
  };
  const any = { safe_regex: { google_re2: {}, regex: '.+' } };
  const matcher = {
    predicate: { single_predicate: { input, value_match: any } },
    on_match: { action: { name: 'bucket', typed_config: settings } },
  };
  const config = {
    '@type': `${TYPES}.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig`,
    domain,
    rlqs_server: {
      envoy_grpc: { cluster_name: NODES },
      initial_metadata: [{ key: 'x-envoy-node', value: name }],
    },
    bucket_matchers: { matcher_list: { matchers: [matcher] } },
  };
  return { name: 'envoy.filters.http.rate_limit_quota', typed_config: config };
}
