// Three consumer processes in front of one slow endpoint, without a quota and then with one of 60 calls/s for all of them:
// node examples/batch-consumer/run.mjs [seconds]                reads a file
// node examples/batch-consumer/run.mjs [seconds] host:port      reads a topic of that Kafka, which it makes and fills
import { fork } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Kafka, logLevel } from 'kafkajs';
import { startEndpoint } from './endpoint.mjs';

const CONSUMERS = ['one', 'two', 'three'];
const LINES = 30_000;
const seconds = Number(process.argv[2] ?? 10);
const broker = process.argv[3];

const folder = await mkdtemp(join(tmpdir(), 'quotamesh-batches-'));
// Every tenth line is empty: work that is dropped.
const lines = Array.from({ length: LINES }, (_, at) => (at % 10 === 9 ? '' : `prompt ${at}`));
try {
  const where = broker === undefined ? await intoFile(lines) : await intoKafka(broker, lines);
  await show('without a quota', where('free'), 'none');
  await show('with a quota of 60 calls/s', where('limited'), folder);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function intoFile(all) {
  const file = join(folder, 'prompts.txt');
  await writeFile(file, all.join('\n'));
  return () => file;
}

/** A topic of its own, that each run reads from the beginning as a group of its own. */
async function intoKafka(address, all) {
  const kafka = new Kafka({ brokers: [address], logLevel: logLevel.ERROR });
  const topic = `prompts-${process.pid}-${Date.now()}`;
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: CONSUMERS.length }], waitForLeaders: true });
  await admin.disconnect();
  const producer = kafka.producer();
  await producer.connect();
  for (let at = 0; at < all.length; at += 1000) {
    const messages = all.slice(at, at + 1000).map((value, of) => ({ value, partition: of % CONSUMERS.length }));
    await producer.send({ topic, messages });
  }
  await producer.disconnect();
  return (what) => `kafka:${address}/${topic}/${topic}-${what}`;
}

async function show(what, where, topic) {
  const endpoint = await startEndpoint();
  const totals = await consume(endpoint.url, where, topic);
  endpoint.stop();
  const { calls } = endpoint;
  const perSecond = calls.length / seconds;
  const [sent, handedBack] = ['sent', 'handedBack'].map((key) => totals.reduce((sum, total) => sum + total[key], 0));
  console.log(
    `${what}: ${calls.length} calls in ${seconds} s (${perSecond.toFixed(0)}/s), worst second ${worstSecond(calls)}; ` +
      `sent ${sent}, handed back ${handedBack}`,
  );
}

/** Starts the consumers, lets them begin together, and waits for what each has done. */
async function consume(url, where, topic) {
  const program = fileURLToPath(new URL('consumer.mjs', import.meta.url));
  const children = CONSUMERS.map((id, number) => {
    return fork(program, [id, number, CONSUMERS.length, where, url, seconds, topic].map(String));
  });
  await Promise.all(children.map(message));
  for (const child of children) child.send('begin');
  return Promise.all(children.map(message));
}

function message(child) {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`a consumer ended with ${code}`)));
  });
}

/** Most calls in any second. */
function worstSecond(calls) {
  let [worst, oldest] = [0, 0];
  for (let newest = 0; newest < calls.length; newest++) {
    while (calls[oldest] <= calls[newest] - 1000) oldest++;
    worst = Math.max(worst, newest - oldest + 1);
  }
  return worst;
}
