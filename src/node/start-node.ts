import { randomInt } from 'node:crypto';
import type { QuotaNode } from '../api/quota-node.js';
import { loadConfig } from '../config/files/load-config.js';
import { resolveConfig } from '../config/read/resolve-config.js';
import type { ResolvedConfig } from '../config/resolved/resolved-config.js';
import { VERSION } from '../package/version.js';
import { silentTelemetry, type Telemetry } from '../ports/telemetry.js';
import { type AssemblyOptions, assembleParts } from './assemble-node.js';
import { rejectWrongOptions } from './check-node-options.js';
import type { CreateNodeOptions } from './create-node.js';
import { EmbeddedNode } from './embedded-node.js';
import { guarded } from './guarded-telemetry.js';
import type { NodeParts } from './node-parts.js';
import { openTopics } from './open-topics.js';
import { tellOldNames } from './tell-old-names.js';

/** What createNode does. */
export async function startNode(options: CreateNodeOptions): Promise<QuotaNode> {
  rejectWrongOptions(options);
  const parts = await assembleNode(await configOf(options), options.telemetry ?? silentTelemetry);
  await startParts(parts, options.readyTimeoutMs);
  return new EmbeddedNode(parts);
}

/** Starts a node and waits until it is ready; a node that does not become ready in time is closed. */
export async function startParts({ life, loop }: Pick<NodeParts, 'life' | 'loop'>, readyTimeoutMs = 30_000) {
  const started = life.start();
  // Without waiting a failed start shows in the node's status and log; nobody holds the promise.
  if (readyTimeoutMs === 0) started.catch(() => undefined);
  else {
    await Promise.all([started, loop.ready(readyTimeoutMs)]).catch(async (error: unknown) => {
      await life.close();
      throw error;
    });
  }
}

/** The parts of a node on the topics that a configuration asks for, wired but not started. */
export async function assembleNode(config: ResolvedConfig, telemetry: Telemetry): Promise<NodeParts> {
  const safe = guarded(telemetry);
  tellOldNames(config, safe);
  return assembleParts(await assemblyOf(config, safe));
}

/** What a node of this program is put together from. */
export async function assemblyOf(config: ResolvedConfig, telemetry: Telemetry): Promise<AssemblyOptions> {
  const safe = guarded(telemetry);
  const topics = await openTopics(config, safe);
  return { config, ...topics, telemetry: safe, version: VERSION, nonce: randomInt(0x10000) };
}

export async function configOf(options: CreateNodeOptions): Promise<ResolvedConfig> {
  const env = options.env ?? process.env;
  const overrides = options.nodeId === undefined ? {} : { nodeId: options.nodeId };
  if (typeof options.config === 'string') return loadConfig({ file: options.config, env, overrides });
  return resolveConfig(options.config, { source: '(inline)', env, overrides });
}
