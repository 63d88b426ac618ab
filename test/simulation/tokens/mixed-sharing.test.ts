import { describe, expect, test } from 'vitest';
import { movingDemand, poisson, type Scene } from './arrivals.js';
import { mostIn, play } from './play.js';

const NODES = 3;
const SCENES: Readonly<Record<string, () => Scene>> = {
  'demand that moves every second': () => movingDemand(9102, NODES, 2000, { seconds: 20 }),
  'a quota that is given in pieces': () => poisson(8, NODES, 10, 20, () => 6.67),
  // With tokens at some of the nodes alone, the others are told late that demand has gone: 87 % used, not 94 %.
  'demand that goes from node to node': () =>
    poisson(5, NODES, 1000, 10, (atMs, node) => (Math.floor(atMs / 1000) % NODES === node ? 2000 : 0)),
};

describe.each(Object.entries(SCENES))('%s', (_, make) => {
  test('one node that is configured to share rates: at most a depth more in any 5 s', () => {
    const scene = make();
    const rates = play(scene, { group: { sharing: 'rates' } });
    const mixed = play(scene, { ofNode: (node) => (node === 0 ? { sharing: 'rates' } : {}) });
    const depth = Math.max(10, 3 * Math.sqrt(scene.perSecond), scene.perSecond / 10);
    expect(mostIn(mixed.admitted, 5000)).toBeLessThanOrEqual(mostIn(rates.admitted, 5000) + depth);
  });
});
