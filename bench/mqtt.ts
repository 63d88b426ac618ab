/**
 * `npm run bench:mqtt [-- rounds]`: what the throttling of one group costs another that has no quota. The quiet group
 * publishes 200 messages/s; the time from publish to the subscriber is measured. Interleaved:
 *
 *   alone      nothing else
 *   free       50 publishers of another group pass 1,000/s in all, of their own accord: no throttling anywhere
 *   throttled  the same 50 want 10,000/s and are throttled to 1,000/s
 *
 * The aim: p99 of throttled ≤ 2 × that of free. Clients run in processes of their own; on two cores they compete with
 * the broker, in the last run most.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import mqtt from 'mqtt';
import { quantileOf } from '../src/tools/load/quantile.js';
import { type BrokerProcess, Brokers } from '../test/mqtt/broker-process.js';
import { startPublishers } from '../test/mqtt/publisher-process.js';

const ROUNDS = Number(process.argv[2] ?? 3);
const QUIET_PER_SECOND = 200;
const LOAD_QUOTA = 1000;
const RUN_MS = 8000;
const WARM_MS = 3000;
const RUNS = { alone: 0, free: LOAD_QUOTA * 0.98, throttled: 10 * LOAD_QUOTA } as const;

type RunName = keyof typeof RUNS;

const p50: Record<RunName, number[]> = { alone: [], free: [], throttled: [] };
const p99: Record<RunName, number[]> = { alone: [], free: [], throttled: [] };

for (let round = 0; round < ROUNDS; round++) {
  for (const name of Object.keys(RUNS) as RunName[]) {
    const latencies = await play(name);
    p50[name].push(quantileOf(latencies, 0.5));
    p99[name].push(quantileOf(latencies, 0.99));
  }
}

console.log(`quiet group, ms from publish to subscriber, min/median/max of ${ROUNDS} rounds`);
for (const name of Object.keys(RUNS) as RunName[]) {
  console.log(`${name.padEnd(10)} p50 ${spread(p50[name])}   p99 ${spread(p99[name])}`);
}
const ratio = quantileOf(p99.throttled, 0.5) / quantileOf(p99.free, 0.5);
console.log(`p99 throttled / free: ${ratio.toFixed(2)} (aim: at most 2)`);

async function play(name: RunName): Promise<number[]> {
  const quota = name === 'free' ? LOAD_QUOTA * 10 : LOAD_QUOTA;
  const groups = { load: { quota: { publish: { messagesPerSecond: quota } } }, quiet: {} };
  const rules = [{ topic: '{namespace}/#', group: '{namespace}' }];
  const started = await Brokers.start({ topic: 'memory', groups, mqtt: { rules } }, ['a']);
  const [cluster, broker] = started as [Brokers, BrokerProcess];
  const plans = Array.from({ length: RUNS[name] === 0 ? 0 : 50 }, (_, at) => {
    return { id: `load-${at}`, topic: `load/${at}`, perSecond: RUNS[name] / 50 };
  });
  const load = plans.length > 0 ? await startPublishers(broker.mqttUrl, plans) : null;
  try {
    load?.go();
    return await measure(broker);
  } finally {
    load?.end();
    await cluster.stop();
  }
}

async function measure({ mqttUrl }: BrokerProcess): Promise<number[]> {
  const subscriber = await mqtt.connectAsync(mqttUrl, { clientId: 'quiet-subscriber' });
  const publisher = await mqtt.connectAsync(mqttUrl, { clientId: 'quiet-publisher' });
  const latencies: number[] = [];
  const beginMs = performance.now();
  subscriber.on('message', (_, payload) => {
    const nowMs = performance.now();
    if (nowMs - beginMs > WARM_MS) latencies.push(nowMs - payload.readDoubleLE(0));
  });
  await subscriber.subscribeAsync('quiet/x', { qos: 0 });
  for (let sent = 0; performance.now() - beginMs < RUN_MS; sent++) {
    const payload = Buffer.alloc(8);
    payload.writeDoubleLE(performance.now());
    publisher.publish('quiet/x', payload, { qos: 0 });
    await sleep(Math.max(0, beginMs + ((sent + 1) * 1000) / QUIET_PER_SECOND - performance.now()));
  }
  await Promise.all([subscriber.endAsync(), publisher.endAsync()]);
  return latencies;
}

function spread(values: readonly number[]): string {
  return [0, 0.5, 1].map((part) => quantileOf(values, part).toFixed(2)).join(' / ');
}
