/**
 * From an append in one process to its delivery in another, and to its own writer.
 *
 *     node bench/topic-latency.mjs embedded [folder]
 *     node bench/topic-latency.mjs kafka 127.0.0.1:9092
 *
 * Plain JavaScript on dist/ (`npm run build` first), so that nothing but Node stands in the way of the figures.
 */
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const APPENDS = 300;
const VALUE_BYTES = 1000;
/** Between two appends: far enough apart that each finds everybody asleep, as a report usually does. */
const GAP_MS = [20, 60];

const adapters = {
  async embedded(path) {
    const { EmbeddedTopic } = await import('../dist/src/topic/embedded/embedded-topic.js');
    return new EmbeddedTopic({ path, appendTimeoutMs: 5000 });
  },
  async kafka(brokers) {
    const { KafkaReportTopic } = await import('../dist/src/topic/kafka/kafka-report-topic.js');
    return new KafkaReportTopic({
      brokers: brokers.split(','),
      name: 'quotamesh-bench',
      clientId: 'bench',
      partitions: 1,
      replicationFactor: 1,
      compression: 'none',
      appendTimeoutMs: 5000,
      connectionTimeoutMs: 3000,
      requestTimeoutMs: 5000,
      fetchMaxWaitMs: 250,
      fetchMinBytes: 1,
      fetchIntervalMs: 40,
      tls: false,
      sasl: null,
    });
  },
};

const [adapter, where] = process.argv.slice(2);
if (!(adapter in adapters)) {
  process.stderr.write(`usage: node bench/topic-latency.mjs ${Object.keys(adapters).join('|')} [where]\n`);
  process.exit(2);
}
if (process.send) await readOnly();
else await measure();

/** The other process: sends back how late each record was. */
async function readOnly() {
  const topic = await adapters[adapter](where);
  const delays = [];
  await openAndRead(topic, delays);
  process.once('message', async () => {
    process.send({ delays, cpu: process.cpuUsage() });
    await topic.close();
    process.disconnect();
  });
  process.send('ready');
}

async function measure() {
  const folder = adapter === 'embedded' && !where ? await mkdtemp(join(tmpdir(), 'quotamesh-bench-')) : undefined;
  const place = where ?? folder ?? '127.0.0.1:9092';
  const reader = fork(fileURLToPath(import.meta.url), [adapter, place]);
  try {
    await new Promise((resolve) => reader.once('message', resolve));
    const topic = await adapters[adapter](place);
    const own = [];
    const acknowledged = [];
    await openAndRead(topic, own);
    await appendAll(topic, acknowledged);
    await sleep(1000);
    reader.send('report');
    const [{ delays }] = await new Promise((resolve) => reader.once('message', (message) => resolve([message])));
    await topic.close();
    print('append acknowledged', acknowledged);
    print('read by the writer', own);
    print('read by another process', delays);
  } finally {
    reader.kill('SIGKILL');
    if (folder) await rm(folder, { recursive: true });
  }
}

async function openAndRead(topic, delays) {
  await new Promise((resolve, reject) => {
    const onRecords = (records) => {
      const now = process.hrtime.bigint();
      for (const { key, value } of records) {
        if (key === 'bench') delays.push(Number(now - Buffer.from(value).readBigInt64LE()) / 1e6);
      }
    };
    const ignore = () => {};
    const unused = { onEpoch: ignore, onLost: ignore, onRecovered: ignore };
    topic.open({ ...unused, onRecords, onCaughtUp: resolve, onFailed: reject }).catch(reject);
  });
  delays.length = 0;
}

async function appendAll(topic, acknowledged) {
  const value = Buffer.alloc(VALUE_BYTES);
  for (let i = 0; i < APPENDS; i++) {
    await sleep(GAP_MS[0] + Math.random() * (GAP_MS[1] - GAP_MS[0]));
    const start = process.hrtime.bigint();
    value.writeBigInt64LE(start);
    await topic.append([{ partition: 0, key: 'bench', value }]);
    acknowledged.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
}

function print(what, samples) {
  samples.sort((a, b) => a - b);
  const at = (part) => samples[Math.min(samples.length - 1, Math.floor(samples.length * part))].toFixed(2);
  const line = `p50 ${at(0.5)} ms  p95 ${at(0.95)}  p99 ${at(0.99)}  max ${at(1)}  (${samples.length} of ${APPENDS})`;
  process.stdout.write(`${adapter}: ${what.padEnd(24)} ${line}\n`);
}
