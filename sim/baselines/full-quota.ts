import { uncoordinated } from './uncoordinated-member.js';

/**
 * Each node has the whole quota: without coordination the cluster admits N quotas. Pulsar does this as it is configured
 * out of the box: without a transport class no report flows (docs/background/pulsar-resource-groups.md).
 */
export const FULL_QUOTA = uncoordinated('full-quota', 'each node takes the whole quota', () => 1);
