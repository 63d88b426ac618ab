import { expect, test } from 'vitest';
import { examineGroup } from '../../../src/config/read/group-definition.js';

test('settings that nobody knows cost no more than the first 200 of them', () => {
  const publish = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`messagesPerFortnight${at}`, at]));
  const from = process.cpuUsage();
  const { config, mistakes } = examineGroup('orders', { quota: { publish } }, 'request');
  const { user } = process.cpuUsage(from);
  console.log(`${Math.round(user / 1000)} ms of CPU`);
  expect(config).toBe(null);
  expect(mistakes).toHaveLength(200);
  // Where each of them was compared with all settings, it took 11 s.
  expect(user / 1e6).toBeLessThan(3);
});
