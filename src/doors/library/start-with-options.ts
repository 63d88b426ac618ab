import { silentTelemetry } from '../../base/ports/telemetry.js';
import { loadConfig } from '../../config/files/load-config.js';
import { resolveConfig } from '../../config/read/resolve-config.js';
import type { OtherConstants } from '../../config/resolved/constants.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { QuotaNode } from '../../node/api/quota-node.js';
import { EmbeddedNode } from '../../node/loop/embedded-node.js';
import { assembleNode, startParts } from '../../node/loop/start-node.js';
import { rejectWrongOptions } from './check-node-options.js';
import { type CreateNodeOptions, HANDLER } from './create-node.js';

/** Starts the node of createNode. */
export async function startWithOptions(options: CreateNodeOptions): Promise<QuotaNode> {
  rejectWrongOptions(options);
  const parts = await assembleNode(await configOf(options), options.telemetry ?? silentTelemetry);
  if (options.http === undefined) {
    await startParts(parts, options.readyTimeoutMs);
    return new EmbeddedNode(parts, null);
  }
  // Fastify takes 50 ms to load, which nodes without HTTP save.
  const { openEmbeddedHttp } = await import('./embedded-http.js');
  const http = await openEmbeddedHttp(parts, options.http === HANDLER).catch(async (error: unknown) => {
    await parts.life.close();
    throw error;
  });
  await startParts(parts, options.readyTimeoutMs).catch(async (error: unknown) => {
    await http.close();
    throw error;
  });
  return new EmbeddedNode(parts, http);
}

export async function configOf(options: CreateNodeOptions, constants?: OtherConstants): Promise<ResolvedConfig> {
  const { config, nodeId, http, env = process.env } = options;
  const overrides = {
    ...(nodeId !== undefined && { nodeId }),
    ...(http !== undefined && http !== HANDLER && { http }),
  };
  if (typeof config === 'string') return loadConfig({ file: config, env, overrides });
  return resolveConfig(config, { source: '(inline)', env, overrides, constants });
}
