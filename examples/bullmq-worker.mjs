// Jobs of BullMQ whose API is shared with processes that are no workers: the cluster's quota decides, not the queue's.
// A worker that is refused gives its job back and rests, and with it all workers of the queue.
//   npm i bullmq ioredis; REDIS_URL=redis://127.0.0.1:6379 node examples/bullmq-worker.mjs a
import { Worker } from 'bullmq';
import { createNode } from 'quotamesh';

const [, , id = 'a', folder = './state'] = process.argv;
const api = { quota: { publish: { messagesPerSecond: '600/min' } }, burst: 10 };
const node = await createNode({
  nodeId: id,
  config: { cluster: 'jobs', topic: { kind: 'embedded', path: folder }, groups: { api } },
});

const { hostname: host, port } = new URL(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');
let done = 0;
const worker = new Worker('calls', callApi, {
  connection: { host, port: Number(port || 6379), maxRetriesPerRequest: null },
  // BullMQ looks at rateLimit() only where the worker has a limiter; this one is never reached.
  limiter: { max: 1_000_000, duration: 1000 },
});

async function callApi(job) {
  const decision = node.tryAcquire('api', { messages: 1 });
  if (!decision.granted) {
    await worker.rateLimit(decision.retryAfterMs);
    throw Worker.RateLimitError();
  }
  done++;
  return job.data;
}

process.once('SIGTERM', async () => {
  await worker.close();
  await node.close();
  console.log(`${id}: ${done} jobs`);
});
console.log(`${id}: ready`);
