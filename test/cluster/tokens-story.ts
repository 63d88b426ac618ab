import { setTimeout as sleep } from 'node:timers/promises';
import { admittedRate } from '../../sim/cluster/measure.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { Cluster, type ClusterOptions } from './cluster.js';
import { carriable, worstFiveSeconds } from './story.js';
import { type Answered, TrafficProcess } from './traffic.js';

export const TOKEN_NODES = ['a', 'b', 'c'] as const;
export const SMALL = { perSecond: 10, depth: 10 };
export const BUSY_PER_SECOND = 300;

/** What node processes showed whose groups share tokens. */
export interface TokensSeen {
  /** What each node admitted of ten requests at once, in an idle group of its own. */
  readonly alone: readonly number[];
  /** Sixty requests at once over all nodes, in another idle group: what was admitted, and until when. */
  readonly together: { readonly admitted: number; readonly fromMs: number; readonly toMs: number };
  /** Epoch times at which that group was granted something afterwards, while it was asked for six times its quota. */
  readonly laterMs: readonly number[];
  readonly laterToMs: number;
  readonly busy: BusySeen;
}

/** A group that one node wants twice, and the others little of. */
interface BusySeen {
  readonly worstFiveSeconds: number;
  /** A part of what could be admitted, when the nodes had heard of each other. */
  readonly used: number;
  /** What the quiet nodes admitted in that time, as a part of what they were asked for. */
  readonly quiet: number;
}

/** Nodes that have just started hear of each other. */
const IDLE_MS = 3000;
const PAYING_BACK_MS = 6000;
const BUSY_RATES: Readonly<Record<string, number>> = { a: 600, b: 15, c: 15 };
const BUSY_MS = 6000;
const SETTLING_MS = 1000;
/** Answers come back to the traffic process, and from there to us. */
const ANSWERED_MS = 50;

/** Plays it on three node processes. */
export async function playTokens(topic: ClusterOptions['topic']): Promise<TokensSeen> {
  const small = { quota: { publish: { messagesPerSecond: SMALL.perSecond } }, burst: { messages: SMALL.depth } };
  const idle = [...TOKEN_NODES.map((id) => `alone-${id}`), 'together'];
  const groups = {
    ...Object.fromEntries(idle.map((name) => [name, small])),
    busy: { quota: { publish: { messagesPerSecond: BUSY_PER_SECOND } } },
  };
  const cluster = await Cluster.create({ topic, nodeSettings: { defaults: {}, groups } });
  const traffic = new TrafficProcess();
  const send = (group: string, rateOf: (id: string) => number) =>
    traffic.setRates(TOKEN_NODES.map((id) => ({ node: id, url: cluster.url(id), ratePerSecond: rateOf(id), group })));
  try {
    await cluster.start(...TOKEN_NODES);
    await sleep(IDLE_MS);
    const alone = await Promise.all(TOKEN_NODES.map((id) => admittedAtOnce(cluster.url(id), `alone-${id}`, 10)));
    const fromMs = epochNow();
    const perNode = await Promise.all(TOKEN_NODES.map((id) => admittedAtOnce(cluster.url(id), 'together', 20)));
    const together = { admitted: perNode.reduce((sum, admitted) => sum + admitted, 0), fromMs, toMs: epochNow() };
    send('together', () => 2 * SMALL.perSecond);
    await sleep(PAYING_BACK_MS);
    const laterToMs = send('busy', (id) => BUSY_RATES[id]);
    await sleep(BUSY_MS);
    const busyToMs = epochNow();
    await sleep(ANSWERED_MS);
    const events = await traffic.collect();
    const later = events.filter(({ granted, sentMs }) => granted && sentMs < laterToMs);
    const busy = events.filter(({ sentMs }) => sentMs >= laterToMs);
    return {
      alone,
      together,
      laterMs: later.map(({ atMs }) => atMs),
      laterToMs,
      busy: busySeen(busy, laterToMs + SETTLING_MS, busyToMs),
    };
  } finally {
    traffic.stop();
    await cluster.stop();
  }
}

/** Each of three nodes is asked once a second for a quota of five per minute. */
export async function playFivePerMinute(topic: ClusterOptions['topic'], lengthMs: number): Promise<FivePerMinuteSeen> {
  const groups = { few: { quota: { publish: { messagesPerSecond: '5/min' } } } };
  const cluster = await Cluster.create({ topic, nodeSettings: { defaults: {}, groups } });
  const traffic = new TrafficProcess();
  try {
    await cluster.start(...TOKEN_NODES);
    const fromMs = traffic.setRates(
      TOKEN_NODES.map((id) => ({ node: id, url: cluster.url(id), ratePerSecond: 1, group: 'few' })),
    );
    await sleep(lengthMs);
    const toMs = epochNow();
    await sleep(ANSWERED_MS);
    const granted = (await traffic.collect()).filter((event) => event.granted && event.atMs < toMs);
    const seconds = granted.map(({ atMs }) => (atMs - fromMs) / 1000);
    const perNode = TOKEN_NODES.map((id) => granted.filter(({ node }) => node === id).length);
    return { seconds, perNode, lengthSeconds: (toMs - fromMs) / 1000 };
  } finally {
    traffic.stop();
    await cluster.stop();
  }
}

export interface FivePerMinuteSeen {
  /** When something was granted, after the first question. */
  readonly seconds: readonly number[];
  readonly perNode: readonly number[];
  readonly lengthSeconds: number;
}

function busySeen(events: readonly Answered[], settledMs: number, toMs: number): BusySeen {
  const settled = events.filter(({ atMs }) => atMs >= settledMs && atMs < toMs);
  const quiet = settled.filter(({ node, decided }) => decided && node !== 'a');
  return {
    worstFiveSeconds: worstFiveSeconds(events, BUSY_PER_SECOND),
    used: admittedRate(settled, settledMs, toMs) / carriable(settled, settledMs, toMs, BUSY_PER_SECOND),
    quiet: quiet.filter(({ granted }) => granted).length / quiet.length,
  };
}

async function admittedAtOnce(url: string, group: string, requests: number): Promise<number> {
  const answers = Array.from({ length: requests }, () => isAdmitted(url, group));
  return (await Promise.all(answers)).filter(Boolean).length;
}

async function isAdmitted(url: string, group: string): Promise<boolean> {
  const { status } = await fetch(`${url}/v1/acquire`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ group, messages: 1 }),
    signal: AbortSignal.timeout(5000),
  });
  if (status !== 200 && status !== 429) throw new Error(`${url} answered ${status}`);
  return status === 200;
}
