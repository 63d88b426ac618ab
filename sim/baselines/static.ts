import { uncoordinated } from './uncoordinated-member.js';

/**
 * quota ÷ configured nodes, for ever: no overshoot, and utilisation down to 1/N when one node has all the work
 * (docs/background/max-min-fairness.md). Nodes that are down keep their part.
 */
export const STATIC = uncoordinated('static', 'quota ÷ configured nodes, never changed', ({ nodes }) => 1 / nodes);
