import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { Cluster } from '../cluster/cluster.js';

const STEPPER = fileURLToPath(new URL('programs/step-wall-clock.mjs', import.meta.url));
/** Five times stalenessMs: an hour was missing before the log had a clock of its own. */
const EXPIRY_DEADLINE_MS = 25_000;

test('a node that dies after the wall clock went back an hour is noticed as soon as ever', async () => {
  const cluster = await Cluster.create({ topic: 'embedded', env: { NODE_OPTIONS: `--import=${STEPPER}` } });
  onTestFinished(() => cluster.stop());
  await cluster.start('a', 'b', 'c');
  for (const { child } of cluster.nodes.values()) child.signal('SIGUSR2');
  await sleep(500);
  cluster.node('c').child.signal('SIGKILL');
  const killedMs = performance.now();
  while ((await stateOfC(cluster)) === 'alive') {
    const silentMs = performance.now() - killedMs;
    if (silentMs > EXPIRY_DEADLINE_MS)
      throw new Error(`c is alive to the others ${Math.round(silentMs)} ms after its end`);
    await sleep(100);
  }
  console.log(`[clock step] the dead node was noticed after ${Math.round(performance.now() - killedMs)} ms`);
  expect(await stateOfC(cluster)).toBe('expired');
});

async function stateOfC(cluster: Cluster): Promise<string | undefined> {
  return (await cluster.status('a')).members.find(({ nodeId }) => nodeId === 'c')?.state;
}
