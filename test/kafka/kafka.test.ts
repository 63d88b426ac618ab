import { expect, it } from 'vitest';
import { startKafka } from './kafka.js';

it('starts, dies, starts', async () => {
  let t = performance.now();
  const lap = (what: string) => {
    console.log(what, Math.round(performance.now() - t));
    t = performance.now();
  };
  const kafka = await startKafka();
  lap('started');
  await kafka.nodes[0].kill();
  expect(kafka.nodes[0].isRunning()).toBe(false);
  await kafka.nodes[0].start();
  lap('again');
  await kafka.stop();
  lap('stopped');
}, 120000);
