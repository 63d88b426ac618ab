import { uncoordinated } from './uncoordinated-member.js';

/** Gives each node the whole quota, as Pulsar without a transport class. */
export const FULL_QUOTA = uncoordinated('full-quota', 'each node takes the whole quota', () => 1);
