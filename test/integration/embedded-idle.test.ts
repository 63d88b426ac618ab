import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { EmbeddedProcesses } from './embedded-processes.js';

const IDLE_MS = 2500;

it('costs next to nothing when nothing happens, and little at one append per second and node', async () => {
  const processes = await EmbeddedProcesses.begin();
  try {
    const facts = { appendTimeoutMs: 2000, appendEveryMs: 1000 };
    const nodes = await Promise.all(
      ['a', 'b', 'c'].map((key) => processes.start('embedded-participant.mjs', { key, ...facts })),
    );
    const cpuOf = async () => {
      for (const node of nodes) node.send('report');
      const reports = nodes.map((node) => node.says<{ cpuPercent: number }>((message) => message !== 'ready', 5000));
      return (await Promise.all(reports)).map((report) => report.cpuPercent);
    };
    // The first second is the end of starting up.
    await sleep(1000);
    await cpuOf();
    await sleep(IDLE_MS);
    const idle = await cpuOf();
    for (const node of nodes) node.send('append');
    await sleep(IDLE_MS);
    const beating = await cpuOf();
    const print = (percent: readonly number[]) => percent.map((value) => value.toFixed(2)).join(', ');
    console.log(`embedded topic, % of a core per node: idle ${print(idle)}; one append per second ${print(beating)}`);
    // Measured 0.1 and 0.6 without the lag watch of the program; a node as a whole is allowed 2.
    expect(Math.max(...idle)).toBeLessThan(3);
    expect(Math.max(...beating)).toBeLessThan(5);
  } finally {
    await processes.end();
  }
}, 30_000);
