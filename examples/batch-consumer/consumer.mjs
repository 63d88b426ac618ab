// One consumer: reads lines of a file or a Kafka topic in batches and sends each line to a slow endpoint. With a quota it
// takes as many tokens as there are for a batch, and hands back what it did not use; without one it sends all it reads.
// Arguments: id, number of this consumer, number of consumers, where the lines are (source.mjs), endpoint, seconds, folder
// of the nodes' topic or `none`.
import { setTimeout as sleep } from 'node:timers/promises';
import { createNode } from 'quotamesh';
import { openSource } from './source.mjs';

const [id, number, count, where, endpoint, seconds, folder] = process.argv.slice(2);
const BATCH = 50;
const CALLS_PER_SECOND = 60;

const source = await openSource(where, Number(number), Number(count));
const node = folder === 'none' ? null : await createNode({ nodeId: id, config: configuration(folder) });
await node?.ready();
// All begin at once, when the slowest of them is ready.
process.send?.('ready');
await new Promise((resolve) => process.once('message', resolve));

const untilMs = performance.now() + Number(seconds) * 1000;
const totals = { sent: 0, handedBack: 0 };
for (let leftMs = Number(seconds) * 1000; leftMs > 0; leftMs = untilMs - performance.now()) {
  const batch = node === null ? unlimited() : await node.takeBatch('llm', { messages: BATCH }, { waitMs: leftMs });
  if (batch.granted) await work(batch);
}
await source.close();
await node?.close();
process.send?.(totals, () => process.exit(0));

/** Empty lines need no answer: they are dropped, and their tokens go back at once, while their window lasts. */
async function work(batch) {
  const read = source.read(batch.messages);
  const prompts = read.filter((line) => line !== '');
  const dropped = read.length - prompts.length;
  try {
    batch.refund({ messages: batch.messages - read.length, dropped: { messages: dropped } });
    totals.handedBack += batch.messages - prompts.length;
  } catch (error) {
    // The window ended in between: those tokens are gone with it.
    if (error.code !== 'BATCH_ENDED') throw error;
  }
  // Nothing is there, or not yet.
  if (read.length === 0) await sleep(20);
  await Promise.all(prompts.map(ask));
  totals.sent += prompts.length;
}

async function ask(prompt) {
  const response = await fetch(endpoint, { method: 'POST', body: prompt });
  await response.arrayBuffer();
}

function unlimited() {
  return { granted: true, messages: BATCH, refund: () => {} };
}

function configuration(path) {
  const quota = { publish: { messagesPerSecond: CALLS_PER_SECOND } };
  return { cluster: 'batches', topic: { kind: 'embedded', path }, groups: { llm: { quota, limiter: 'window' } } };
}
