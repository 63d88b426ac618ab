import { uncoordinated } from './uncoordinated-member.js';

/**
 * Gives each node the whole quota: N quotas, as Pulsar without a transport class
 * (docs/background/pulsar-resource-groups.md).
 */
export const FULL_QUOTA = uncoordinated('full-quota', 'each node takes the whole quota', () => 1);
