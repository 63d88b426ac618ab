import { uncoordinated } from './uncoordinated-member.js';

/**
 * The whole quota at each node: no coordination admits N quotas. Pulsar as it is configured out of the box does this:
 * without a transport class no report flows (docs/background/pulsar-resource-groups.md).
 */
export const FULL_QUOTA = uncoordinated('full-quota', 'each node takes the whole quota', () => 1);
