import type { ResolvedConfig } from '../config/resolved/resolved-config.js';
import { Coordinator } from '../core/coordinator/coordinator.js';
import type { QuotaNodeOptions } from './node-parts.js';
import type { QuotaNode } from './quota-node.js';

/** When the topic is open: the number of partitions belongs to it. */
export function createCoordinator(node: QuotaNode, { config, version, nonce }: QuotaNodeOptions): Coordinator {
  const { cluster, nodeId, timing, sampleIntervalMs, limiting, costs, limits } = config;
  const { partitions } = node.topic;
  const groups = node.groups.list;
  return new Coordinator(
    {
      ...timing,
      cluster,
      nodeId,
      version,
      nonce,
      sampleIntervalMs,
      partitions,
      groups,
      limiting,
      costs,
      maxNodes: limits.maxNodes,
      maxRows: limits.maxRows,
      maxGroupsPerNode: limits.maxGroupsPerNode,
    },
    node.limiter,
  );
}

/**
 * Rounds of a node at rest: a tenth of what they have to keep, the heartbeat and the validity of shares, so that neither
 * is noticeably late; 100 ms by default, a fifth of the timers of a node that works.
 */
export function restIntervalMs({ sampleIntervalMs, timing }: ResolvedConfig): number {
  return Math.max(sampleIntervalMs, Math.min(timing.heartbeatMs, timing.shareValidMs) / 10);
}
