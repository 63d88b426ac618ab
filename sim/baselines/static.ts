import { uncoordinated } from './uncoordinated-member.js';

/**
 * Each node has quota ÷ configured nodes, for ever. Nothing is ever above the quota, and utilisation falls to 1/N when
 * one node has all the work (docs/background/max-min-fairness.md). Nodes that are down keep their part.
 */
export const STATIC = uncoordinated('static', 'quota ÷ configured nodes, never changed', ({ nodes }) => 1 / nodes);
