import { isDeepStrictEqual } from 'node:util';
import { isMapping } from '../../../base/input/mapping.js';
import type { ListenerTlsConfig, ResolvedConfig } from '../../../config/resolved/resolved-config.js';

/**
 * Paths of settings that differ between two configurations, as `timing.heartbeatMs`, without those that a reload
 * changes. Values may be secrets and are not told.
 */
export function settingDifferences(one: ResolvedConfig, other: ResolvedConfig): readonly string[] {
  const authGoes = one.auth !== null && other.auth === null ? ['auth'] : [];
  return [...authGoes, ...differences(coldOf(one), coldOf(other), '').filter((path) => path !== 'topic.nodeCount')];
}

/**
 * Groups, templates of keys, attachments and tokens follow the files; the count of nodes without a topic is a part of every group
 * (build-config.ts). Certificates of listeners are replaced (access/listener-tls.ts), but not whether there are any.
 */
function coldOf(config: ResolvedConfig): Readonly<Record<string, unknown>> {
  const { groups, keys, attachments, source, files, auth, nodeId: node, http, mqtt, ...cold } = config;
  const { templates: _hot, ...bounds } = keys;
  // A limit that is only written in another unit of time is the same limit.
  const { asWritten: _, ...limits } = cold.limits;
  return { node, ...cold, keys: bounds, limits, http: coldListener(http), mqtt: coldListener(mqtt) };
}

function coldListener<Listener extends { readonly tls: ListenerTlsConfig | null }>({ tls, ...others }: Listener) {
  return { ...others, tls: tls && { clientCa: tls.clientCa !== null, clientCertificates: tls.clientCertificates } };
}

function differences(one: unknown, other: unknown, path: string): string[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (!isMapping(one) || !isMapping(other)) return [path];
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].flatMap((key) => differences(one[key], other[key], path === '' ? key : `${path}.${key}`));
}
