import { isDeepStrictEqual } from 'node:util';
import { isMapping } from '../../../base/input/mapping.js';
import type { ListenerTlsConfig, ResolvedConfig } from '../../../config/resolved/resolved-config.js';

/** Lists paths of differing settings, as `timing.heartbeatMs`, that a reload does not change; values may be secrets. */
export function settingDifferences(one: ResolvedConfig, other: ResolvedConfig): readonly string[] {
  const authGoes = one.auth !== null && other.auth === null ? ['auth'] : [];
  return [...authGoes, ...differences(coldOf(one), coldOf(other), '').filter((path) => path !== 'topic.nodeCount')];
}

/**
 * Returns the settings that need a restart. Groups, templates, attachments, tokens and listeners' certificates
 * (access/listener-tls.ts) follow the files; the count of nodes without a topic is part of every group
 * (build-config.ts).
 */
function coldOf(config: ResolvedConfig): Readonly<Record<string, unknown>> {
  const { groups, keys, attachments, source, files, auth, nodeId: node, http, mqtt, ...cold } = config;
  const { templates: _hot, ...bounds } = keys;
  // Another unit of time is the same limit.
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
