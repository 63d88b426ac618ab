import { randomInt } from 'node:crypto';
import type { QuotaNode } from '../api/quota-node.js';
import { loadConfig } from '../config/files/load-config.js';
import { resolveConfig } from '../config/read/resolve-config.js';
import type { ResolvedConfig } from '../config/resolved/resolved-config.js';
import { VERSION } from '../package/version.js';
import { silentTelemetry, type Telemetry } from '../ports/telemetry.js';
import { assembleParts } from './assemble-node.js';
import { rejectWrongOptions } from './check-node-options.js';
import { EmbeddedNode } from './embedded-node.js';
import type { NodeParts } from './node-parts.js';
import { openTopics } from './open-topics.js';

export interface CreateNodeOptions {
  /** Path of a YAML file, or the same structure as an object. */
  readonly config: string | Readonly<Record<string, unknown>>;
  /** Overrides the configured node id. */
  readonly nodeId?: string;
  /** Environment for QUOTAMESH_… overrides; default process.env. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly telemetry?: Telemetry;
  /** How long to wait until the node decides, milliseconds; default 30,000. 0 = do not wait. */
  readonly readyTimeoutMs?: number;
}

/**
 * Starts a node inside this process and resolves when it decides. Close it with `node.close()`, which publishes its farewell.
 * Rejects with OPTIONS_INVALID, CONFIG_INVALID, TOPIC_SETTINGS, TOPIC_DENIED, TOPIC_ACL_MISSING, TOKEN_REFUSED, or NOT_READY
 * when it is not ready in time.
 */
export async function createNode(options: CreateNodeOptions): Promise<QuotaNode> {
  rejectWrongOptions(options);
  const parts = await assembleNode(await configOf(options), options.telemetry ?? silentTelemetry);
  const { life, loop } = parts;
  const started = life.start();
  const { readyTimeoutMs = 30_000 } = options;
  // Without waiting a failed start shows in the node's status and log; nobody holds the promise.
  if (readyTimeoutMs === 0) started.catch(() => undefined);
  else {
    await Promise.all([started, loop.ready(readyTimeoutMs)]).catch(async (error: unknown) => {
      await life.close();
      throw error;
    });
  }
  return new EmbeddedNode(parts);
}

/** The parts of a node on the topics that a configuration asks for, wired but not started. */
export async function assembleNode(config: ResolvedConfig, telemetry: Telemetry): Promise<NodeParts> {
  const topics = await openTopics(config, telemetry);
  return assembleParts({ config, ...topics, telemetry, version: VERSION, nonce: randomInt(0x10000) });
}

export async function configOf(options: CreateNodeOptions): Promise<ResolvedConfig> {
  const env = options.env ?? process.env;
  const overrides = options.nodeId === undefined ? {} : { nodeId: options.nodeId };
  if (typeof options.config === 'string') return loadConfig({ file: options.config, env, overrides });
  return resolveConfig(options.config, { source: '(inline)', env, overrides });
}
