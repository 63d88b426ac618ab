/**
 * A node's end of an embedded topic, remote controlled, that measures what it lives through.
 *
 *     argv: JSON { path, key, appendTimeoutMs, openAtOnce, appendEveryMs }
 *     IPC messages: "open", "append" (from now on every appendEveryMs), "report", "close"
 *
 * "report" is answered with a report since the last one (see `report`), "close" with { closeMs }; after it the process
 * ends by itself, through process.exit(0) like the command line does.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedTopic } from '../../../dist/src/topic/embedded/embedded-topic.js';
import { watchLag } from './watch-lag.mjs';

const { path, key, appendTimeoutMs, openAtOnce = true, appendEveryMs = 20 } = JSON.parse(process.argv[2]);
const topic = new EmbeddedTopic({ path, appendTimeoutMs });
const seen = { records: 0, caughtUp: 0, lost: 0, recovered: 0, failures: [] };
let appends = newAppends();
let lag = watchLag();
let appending = false;
let isOpen = false;
let cpu = process.cpuUsage();
let since = performance.now();

process.on('message', (message) => commands[message]());
if (openAtOnce) await open();
process.send('ready');

const commands = {
  open,
  append,
  report: () => process.send(report()),
  close,
};

async function open() {
  await topic.open({
    onEpoch: () => {},
    onRecords: (records) => {
      seen.records += records.length;
    },
    onCaughtUp: () => {
      seen.caughtUp++;
    },
    onLost: () => {
      seen.lost++;
    },
    onRecovered: () => {
      seen.recovered++;
    },
    onFailed: (error) => seen.failures.push(error.message),
  });
  isOpen = true;
}

/** A steady beat: the next append does not wait for the one before, as a node's heartbeat does not. */
async function append() {
  appending = true;
  for (let n = 1; appending; n++) {
    const start = performance.now();
    topic.append([{ partition: 0, key, value: Buffer.from(String(n)) }]).then(
      () => {
        appends.done++;
        appends.slowestMs = Math.max(appends.slowestMs, performance.now() - start);
      },
      (error) => {
        appends.failed[error.code ?? error.message] = (appends.failed[error.code ?? error.message] ?? 0) + 1;
      },
    );
    await sleep(appendEveryMs);
  }
}

function report() {
  const { user, system } = process.cpuUsage(cpu);
  const figures = {
    kind: 'report',
    isOpen,
    ...seen,
    appends,
    worstLagMs: lag.stop(),
    heapMiB: liveHeapMiB(),
    cpuPercent: (user + system) / 10 / (performance.now() - since),
  };
  appends = newAppends();
  lag = watchLag();
  cpu = process.cpuUsage();
  since = performance.now();
  return figures;
}

async function close() {
  appending = false;
  const start = performance.now();
  await topic.close();
  process.send({ kind: 'closed', closeMs: performance.now() - start }, () => process.exit(0));
}

/** What is in use after a collection; the resident set also shows how much V8 likes to keep for the next one. */
function liveHeapMiB() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 ** 2;
}

function newAppends() {
  return { done: 0, slowestMs: 0, failed: {} };
}
