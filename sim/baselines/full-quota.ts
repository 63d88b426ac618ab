import { uncoordinated } from './uncoordinated-member.js';

/**
 * The whole quota at each node: no coordination admits N quotas (peers-and-theory 4.4). Pulsar as it is configured out
 * of the box does this: without a transport class no report flows (pulsar §1.3).
 */
export const FULL_QUOTA = uncoordinated('full-quota', 'each node takes the whole quota', () => 1);
