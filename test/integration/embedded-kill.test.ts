import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { EmbeddedTopic } from '../../src/topic/embedded/embedded-topic.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { partOf, someOf } from '../property/seed.js';
import { killWriters } from './embedded-kill-rounds.js';
import { EmbeddedProcesses } from './embedded-processes.js';

it('loses no acknowledged record and blocks nobody when writers are killed -9, again and again', async () => {
  // Three quarters of them hit a commit: none of four does once in 256 runs, none of two once in 16.
  const kills = Math.max(4, partOf(12));
  const figures = await killWriters(kills);
  expect(figures.kills).toBe(kills);
  // Many more in test:long. By chance alone some kills hit a commit: a writer spends three quarters of its life in one.
  expect(figures.insideCommit).toBeGreaterThan(0);
}, 300_000);

it('opens a folder whose first process was killed while it created it', async () => {
  for (const round of someOf([0, 1, 2, 3, 4, 5, 6, 7])) {
    const processes = await EmbeddedProcesses.begin();
    const topic = new EmbeddedTopic({ path: processes.path, appendTimeoutMs: 2000 });
    try {
      const first = await processes.start('embedded-writer.mjs', { key: 'first', pauseMs: 0, appendTimeoutMs: 2000 });
      first.send('go');
      // Creating and opening takes about 10 ms.
      await sleep(2 * round);
      first.kill();
      const listener = new RecordingListener();
      await topic.open(listener);
      await topic.append([{ partition: 0, key: 'second', value: Buffer.from('here') }]);
      await listener.until('own record', () => listener.has('second'), 5000);
    } finally {
      await topic.close();
      await processes.end();
    }
  }
}, 60_000);
