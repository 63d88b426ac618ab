/** Settings of one Envoy of a test; all others are the same for all. */
export interface FrontProxy {
  /** HTTP filters before the router, as `http_filters` has them; nodes are the cluster `NODES`. */
  readonly filters: readonly object[];
  /** `rate_limits` of the only route: which descriptors a request has. */
  readonly rateLimits?: readonly object[];
  /** Ports of nodes' gRPC listeners on this machine: the first that is healthy is asked. */
  readonly nodes: readonly number[];
}

interface Ports {
  readonly front: number;
  readonly backend: number;
  readonly admin: number;
}

/** Name of the cluster of nodes in the filters of a `FrontProxy`. */
export const NODES = 'quotamesh';
const BACKEND = 'backend';
const TYPES = 'type.googleapis.com/envoy.extensions';
const EVERYTHING = { prefix: '/' };
const IS_DEAD_AFTER = { interval: '1s', timeout: '1s' };

/**
 * Writes the bootstrap: a listener with the filters, and a second one as the backend, which answers every request.
 * *Why:* a route that answers directly makes Envoy's ratelimit filter ask nobody.
 */
export function bootstrapOf({ filters, rateLimits = [], nodes }: FrontProxy, ports: Ports): object {
  const route = { match: EVERYTHING, route: { cluster: BACKEND, rate_limits: rateLimits } };
  const answer = { match: EVERYTHING, direct_response: { status: 200, body: { inline_string: 'ok' } } };
  return {
    admin: { address: address(ports.admin) },
    static_resources: {
      listeners: [listener('front', ports.front, filters, route), listener(BACKEND, ports.backend, [], answer)],
      clusters: [
        { name: BACKEND, connect_timeout: '5s', load_assignment: endpoints(BACKEND, [ports.backend]) },
        ...(nodes.length === 0 ? [] : [clusterOf(nodes)]),
      ],
    },
  };
}

function listener(name: string, port: number, filters: readonly object[], route: object): object {
  const manager = {
    '@type': `${TYPES}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: name,
    http_filters: [
      ...filters,
      { name: 'envoy.filters.http.router', typed_config: { '@type': `${TYPES}.filters.http.router.v3.Router` } },
    ],
    route_config: { virtual_hosts: [{ name, domains: ['*'], routes: [route] }] },
  };
  const filter = { name: 'envoy.filters.network.http_connection_manager', typed_config: manager };
  return { name, address: address(port), filter_chains: [{ filters: [filter] }] };
}

function clusterOf(nodes: readonly number[]): object {
  const http2 = { http2_protocol_options: { connection_keepalive: IS_DEAD_AFTER } };
  const protocol = `${TYPES}.upstreams.http.v3.HttpProtocolOptions`;
  return {
    name: NODES,
    connect_timeout: '1s',
    health_checks: [
      {
        ...IS_DEAD_AFTER,
        unhealthy_threshold: 1,
        healthy_threshold: 1,
        // A minute while nobody has asked.
        no_traffic_interval: '1s',
        initial_jitter: '0.001s',
        grpc_health_check: {},
      },
    ],
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': { '@type': protocol, explicit_http_config: http2 },
    },
    load_assignment: endpoints(NODES, nodes),
  };
}

/** One endpoint per priority. */
function endpoints(cluster: string, ports: readonly number[]): object {
  const each = ports.map((port, priority) => ({
    priority,
    lb_endpoints: [{ endpoint: { address: address(port) } }],
  }));
  return { cluster_name: cluster, endpoints: each };
}

function address(port: number): object {
  return { socket_address: { address: '127.0.0.1', port_value: port } };
}
