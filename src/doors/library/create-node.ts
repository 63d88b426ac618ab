import type { Telemetry } from '../../base/ports/telemetry.js';
import type { QuotaNode } from '../../node/api/quota-node.js';

export interface CreateNodeOptions {
  /** Path of a YAML file, or the same structure as an object. */
  readonly config: string | Readonly<Record<string, unknown>>;
  /** Id of the node, over the configured one. */
  readonly nodeId?: string;
  /** Environment for QUOTAMESH_… overrides; default process.env. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly telemetry?: Telemetry;
  /**
   * Address of HTTP and live page: `127.0.0.1:7070` or `unix:/path`; port 0 = any free one. `handler` listens nowhere:
   * `node.http.handler` answers the service's requests. Absent = no HTTP.
   */
  readonly http?: string;
  /** Milliseconds to wait until the node decides, default 30,000; 0 = do not wait. */
  readonly readyTimeoutMs?: number;
}

/**
 * Starts a node inside this process and resolves when it decides. Close it with `node.close()`, which publishes its
 * farewell. Rejects with OPTIONS_INVALID, CONFIG_INVALID, ADDRESS_IN_USE, TOPIC_SETTINGS, TOPIC_DAMAGED,
 * TOPIC_DENIED, TOPIC_ACL_MISSING, TOKEN_REFUSED, PARTITIONS_DIFFER, NODE_FENCED, or NOT_READY when it is not ready in time.
 */
export async function createNode(options: CreateNodeOptions): Promise<QuotaNode> {
  // Here, so that importing the library without making a node costs nothing.
  const { startWithOptions } = await import('./start-with-options.js');
  return startWithOptions(options);
}

/** Value of `http` for a node that listens nowhere. */
export const HANDLER = 'handler';
