import { someOf } from '../../property/seed.js';
import { smallQuotasHold } from './small-quotas.js';

/** Two of them are played for longer in test/long/small-quotas.test.ts; those that take longest are in different thirds. */
const QUOTAS = [
  { perSecond: 1, nodes: 3, seconds: 200, depth: 10 },
  { perSecond: 5, nodes: 3, seconds: 100, depth: 10 },
  { perSecond: 10, nodes: 10, seconds: 100, depth: 10 },
  { perSecond: 5 / 60, nodes: 10, seconds: 600, depth: 5 },
  { perSecond: 10, nodes: 5, seconds: 100, depth: 10, size: 2 },
  { perSecond: 10, nodes: 5, seconds: 100, depth: 10, size: 4 },
  { perSecond: 20, nodes: 50, seconds: 15, depth: 3 * Math.sqrt(20) },
  { perSecond: 5 / 60, nodes: 10, seconds: 600, depth: 10 },
];

smallQuotasHold(someOf(QUOTAS));
