import type { QuotaNode } from '../api/quota-node.js';
import type { Telemetry } from '../ports/telemetry.js';

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
  // Here, so that a service which imports the library and makes no node pays for none of it.
  const { startNode } = await import('./start-node.js');
  return startNode(options);
}
