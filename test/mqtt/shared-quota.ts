import { setTimeout as sleep } from 'node:timers/promises';
import mqtt from 'mqtt';
import { jainIndex } from '../../sim/verdict/fairness.js';
import { OtherLoad } from '../other-load.js';
import { type BrokerProcess, Brokers, type BrokersOptions } from './broker-process.js';
import { type PublisherPlan, startPublishers } from './publisher-process.js';

export interface SharedQuotaResult {
  /** Epoch-free times of arrivals at the subscribers, milliseconds since `go`, with broker and publisher. */
  readonly arrivals: readonly Arrival[];
  readonly plans: Readonly<Record<string, readonly PublisherPlan[]>>;
  readonly errors: number;
  /** True = what came in a time tells of the machine. */
  readonly isTooBusy: boolean;
}

export interface Arrival {
  readonly atMs: number;
  readonly broker: string;
  readonly publisher: string;
}

export const QUOTA = 600;
export const PUBLISHERS_PER_BROKER = 25;
/** Both brokers are busy until then; from then on only the first. */
export const BOTH_MS = 10_800;
export const END_MS = 14_000;

/** Two brokers of one cluster, 25 publishers each, the k-th wants 240/k messages per second: 916/s per broker. */
export async function playSharedQuota(topic: BrokersOptions['topic']): Promise<SharedQuotaResult> {
  const groups = { orders: { quota: { publish: { messagesPerSecond: QUOTA } } } };
  const rules = [{ topic: 'shop/{namespace}/#', group: '{namespace}' }];
  const [cluster, ...brokers] = await Brokers.start({ topic, groups, mqtt: { rules } }, ['a', 'b']);
  const arrivals: Arrival[] = [];
  let startedMs = Infinity;
  const plans = Object.fromEntries(brokers.map(({ id }) => [id, plansOf(id)]));
  const subscribers = await Promise.all(
    brokers.map((broker) =>
      subscribe(broker, (publisher) => {
        arrivals.push({ atMs: performance.now() - startedMs, broker: broker.id, publisher });
      }),
    ),
  );
  const processes = await Promise.all(brokers.map(({ id, mqttUrl }) => startPublishers(mqttUrl, plans[id])));
  try {
    startedMs = performance.now();
    const others = new OtherLoad();
    for (const one of processes) one.go();
    await sleep(BOTH_MS);
    const second = await processes[1].stop();
    await sleep(startedMs + END_MS - performance.now());
    const first = await processes[0].stop();
    const isTooBusy = others.isTooMuch('a shared quota');
    return { arrivals: [...arrivals], plans, errors: first.errors + second.errors, isTooBusy };
  } finally {
    for (const one of processes) one.end();
    await Promise.all(subscribers.map((client) => client.endAsync(true)));
    await cluster.stop();
  }
}

function plansOf(broker: string): PublisherPlan[] {
  return Array.from({ length: PUBLISHERS_PER_BROKER }, (_, at) => {
    const id = `${broker}-${at}`;
    return { id, topic: `shop/orders/${id}`, perSecond: 240 / (at + 1) };
  });
}

async function subscribe({ mqttUrl, id }: BrokerProcess, onMessage: (publisher: string) => void) {
  const client = await mqtt.connectAsync(mqttUrl, { clientId: `subscriber-${id}`, reconnectPeriod: 0 });
  await client.subscribeAsync('shop/orders/+', { qos: 0 });
  client.on('message', (topic) => onMessage(topic.slice('shop/orders/'.length)));
  return client;
}

/** The most and the least in any window of this length that lies in [from, to). */
export function extremesOf(arrivals: readonly Arrival[], windowMs: number, [fromMs, toMs]: readonly [number, number]) {
  const times = arrivals.map(({ atMs }) => atMs).sort((one, other) => one - other);
  let most = 0;
  let least = Infinity;
  for (let beginMs = fromMs; beginMs + windowMs <= toMs; beginMs += 100) {
    const count = times.filter((atMs) => atMs >= beginMs && atMs < beginMs + windowMs).length;
    most = Math.max(most, count);
    least = Math.min(least, count);
  }
  return { most, least };
}

/** Jain's index of what publishers got, each divided by its max-min fair part of the sum. */
export function fairness(got: readonly number[], wanted: readonly number[]): number {
  const total = got.reduce((sum, one) => sum + one, 0);
  const level = waterLevel(wanted, total);
  const ratios = got.map((one, at) => one / Math.min(wanted[at], level));
  return jainIndex(ratios) ?? Number.NaN;
}

function waterLevel(wanted: readonly number[], total: number): number {
  let left = total;
  const sorted = [...wanted].sort((one, other) => one - other);
  for (const [at, one] of sorted.entries()) {
    const even = left / (sorted.length - at);
    if (one >= even) return even;
    left -= one;
  }
  return Infinity;
}
