import { expect, test } from 'vitest';
import { type System, systemNamed } from '../../sim/systems.js';
import { slowClients } from '../../sim/target/rate-experiments.js';

test('200 slow clients, each a node: no floor per client', () => {
  const ratio = slowClients(systemNamed('max-min') as System, 200);
  console.log(`200 slow clients: max-min ${ratio.toFixed(3)} of the quota (the source: 2)`);
  expect(ratio).toBeLessThanOrEqual(1.01);
});
