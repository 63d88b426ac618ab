import { smallQuotasHold } from '../simulation/tokens/small-quotas.js';

smallQuotasHold([
  { perSecond: 20, nodes: 50, seconds: 60, depth: 3 * Math.sqrt(20) },
  { perSecond: 5 / 60, nodes: 10, seconds: 1800, depth: 10 },
]);
