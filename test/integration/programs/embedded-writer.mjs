/**
 * A process that appends to an embedded topic, one record after the other, numbered from 1.
 *
 *     argv: JSON { path, key, pauseMs, appendTimeoutMs }; starts at the IPC message "go", ends at "stop"
 *
 * Writes to standard output, synchronously, so that nothing is lost with the process when it is killed:
 * `(` before LMDB is asked for a transaction, `]` at its end, while the gate is still held, `)<n>\n` when append n was
 * acknowledged after it.
 * After "stop" it sends { appended, failed, slowestMs, worstLagMs } over IPC and exits by itself.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedTopic } from '../../../dist/src/topic/embedded/embedded-topic.js';
import { LogStore } from '../../../dist/src/topic/embedded/log-store.js';
import { watchLag } from './watch-lag.mjs';

const WARM_UP_COMMITS = 100;
const { path, key, pauseMs, appendTimeoutMs } = JSON.parse(process.argv[2]);
const told = (event) => new Promise((resolve) => process.on('message', (message) => message === event && resolve()));

// Before "ready": the life of a process that waits for its turn is spent on commits, at full speed.
await warmUp();
markTransactions();
const go = told('go');
let stopped = false;
told('stop').then(() => {
  stopped = true;
});
process.send('ready');
await go;

const topic = await openTopic(path);
const lag = watchLag();
let [failed, slowestMs, n] = [0, 0, 0];
while (!stopped) {
  const start = performance.now();
  try {
    await topic.append([{ partition: 0, key, value: Buffer.from(String(++n)) }]);
    writeSync(1, `)${n}\n`);
  } catch (error) {
    failed++;
    process.stderr.write(`${key}: ${error.message}\n`);
  }
  slowestMs = Math.max(slowestMs, performance.now() - start);
  if (pauseMs > 0) await sleep(pauseMs);
}
await topic.close();
process.send({ appended: topic.counters.recordsAppended, failed, slowestMs, worstLagMs: lag.stop() });
process.disconnect();

async function openTopic(folder) {
  const opened = new EmbeddedTopic({ path: folder, appendTimeoutMs });
  const ignore = () => {};
  await opened.open({
    onEpoch: ignore,
    onRecords: ignore,
    onCaughtUp: ignore,
    onLost: ignore,
    onRecovered: ignore,
    onFailed: (error) => {
      throw error;
    },
  });
  return opened;
}

/** Loads and compiles everything on a topic of its own. */
async function warmUp() {
  const scratch = await openTopic(join(path, `warm-up-${key}`));
  for (let i = 0; i < WARM_UP_COMMITS; i++) {
    await scratch.append([{ partition: 0, key, value: Buffer.from(String(i)) }]);
  }
  await scratch.close();
}

function markTransactions() {
  const append = LogStore.prototype.append;
  LogStore.prototype.append = async function (entries) {
    writeSync(1, '(');
    await append.call(this, entries);
    writeSync(1, ']');
  };
}
