import type { Telemetry } from '../../base/ports/telemetry.js';
import type { QuotaNode } from '../../node/api/quota-node.js';

export interface CreateNodeOptions {
  /** Path of a YAML file, or the same structure as an object. */
  readonly config: string | Readonly<Record<string, unknown>>;
  /** Overrides the configured node id. */
  readonly nodeId?: string;
  /** Environment for QUOTAMESH_… overrides; default process.env. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly telemetry?: Telemetry;
  /**
   * Where HTTP listens, with the live page: `127.0.0.1:7070`, or `unix:/path`; port 0 = any free one. `handler` listens
   * nowhere: `node.http.handler` answers what the service hands over. Absent = no HTTP.
   */
  readonly http?: string;
  /** How long to wait until the node decides, milliseconds; default 30,000. 0 = do not wait. */
  readonly readyTimeoutMs?: number;
}

/**
 * Starts a node inside this process and resolves when it decides. Close it with `node.close()`, which publishes its farewell.
 * Rejects with OPTIONS_INVALID, CONFIG_INVALID, HTTP_ADDRESS_IN_USE, TOPIC_SETTINGS, TOPIC_DENIED, TOPIC_ACL_MISSING, TOKEN_REFUSED, or NOT_READY
 * when it is not ready in time.
 */
export async function createNode(options: CreateNodeOptions): Promise<QuotaNode> {
  // Here, so that a service which imports the library and makes no node pays for none of it.
  const { startWithOptions } = await import('./start-with-options.js');
  return startWithOptions(options);
}

/** The value of `http` for a node that listens nowhere. */
export const HANDLER = 'handler';
