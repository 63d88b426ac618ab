import { uncoordinated } from './uncoordinated-member.js';

/**
 * Gives each node quota ÷ configured nodes, for ever, absent ones too: never above the quota, and 1/N used with one
 * busy node (docs/background/max-min-fairness.md).
 */
export const STATIC = uncoordinated('static', 'quota ÷ configured nodes, never changed', ({ nodes }) => 1 / nodes);
