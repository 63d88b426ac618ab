import type { LeftOut } from '../../sim/swarm/run-swarm.js';

/** What nodes break of docs/reference/promises.md today, and tests of swarms do without. It is printed by each. */
export const LEFT_OUT: LeftOut = { nodesInPieces: 3, isApart: true };

export const OPEN_FAULTS = [
  'left out: in pieces, more than three nodes may take a depth more than three within two deliveries (nodesInPieces)',
  'left out: nodes that wake at one instant take up to a tenth of a depth more than three (isApart)',
].join('\n');
