import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { Random } from '../../sim/cluster/random.js';
import { examineGroup } from '../../src/config/read/group-definition.js';
import type { Where } from '../../src/node/api/decision.js';
import { type HttpScene, readyScene } from '../unit/http/http-scene.js';
import type { WholeNode } from '../whole-node.js';

const FOR_MS = 5000;
const PLACES: readonly Where[] = [{ tenant: 't', namespace: 'x' }, { tenant: 't' }, 'own', 'broad', 'temp'];
const OWN = { perTopic: { publish: { messagesPerSecond: 40 } }, perClient: { publish: { messagesPerSecond: 30 } } };
const quota = (messagesPerSecond: number) => ({ quota: { publish: { messagesPerSecond } } });

let scene: HttpScene;
afterEach(() => scene.close());

test.each([1, 2, 3, 4, 5, 6])(
  '60 who wait, while groups come, go and change: nobody is left in a line, seed %i',
  async (seed) => {
    const random = new Random(seed);
    const windows = seed % 2 === 0 ? {} : { limiter: 'window', windowMs: 200 };
    scene = await readyScene({
      limits: { maxReservations: 50, maxWaiting: 40 },
      groups: { broad: { ...quota(300), ...windows }, own: { ...quota(200), ...OWN, ...windows } },
      attachments: { scopes: { t: 'broad', 't/x': { group: 'own', andBroader: true } } },
    });
    const { node } = scene;
    const endMs = performance.now() + FOR_MS;
    const answers: Record<string, number> = {};
    const waiting = Array.from({ length: 60 }, async () => {
      while (performance.now() < endMs) {
        const answer = await askOnce(node, random);
        answers[answer] = (answers[answer] ?? 0) + 1;
        if (answer !== 'granted') await sleep(5);
      }
    });
    await Promise.all([...waiting, changeGroups(node, random, endMs)]);
    console.log(answers);
    expect(answers.granted).toBeGreaterThan(100);
    expect([node.gate.waiting.count, Math.max(...node.limiter.heldBack)]).toEqual([0, 0]);
    node.gate.batches.expire(Infinity);
    const { open, ended } = node.gate.batches.counts;
    expect([open, ended > 0]).toEqual([0, true]);
    // A waiter that is wrongly still counted would take room.
    node.inForce.define(examineGroup('free', { enabled: false }, '(test)').config!);
    for (let batch = 0; batch < 50; batch++) await node.takeBatch('free', { messages: 1 });
    await expect(node.takeBatch('free', { messages: 1 })).rejects.toMatchObject({ code: 'BATCHES_FULL' });
  },
);

/** Returns what became of it: granted, the reason of a refusal, the code of an error. */
async function askOnce(node: WholeNode, random: Random): Promise<string> {
  const upTo = (most: number) => Math.floor(random.next() * most);
  const signal = upTo(3) === 0 ? AbortSignal.timeout(1 + upTo(200)) : undefined;
  const options = { waitMs: upTo(600), client: `c${upTo(4)}`, topic: `t${upTo(3)}`, ...(signal && { signal }) };
  const where = PLACES[upTo(PLACES.length)];
  const messages = 1 + upTo(30);
  try {
    if (upTo(3) === 0) return outcomeOf(await node.acquire(where, { messages: 1 + upTo(3) }, options));
    const amounts = [{ messages }, { messages, bytes: 1 + upTo(1000) }, 'all' as const][upTo(3)] as {
      messages: number;
    };
    const answer = await node.takeBatch(where, amounts, options);
    if (answer.granted && upTo(4) > 0) answer.refund({ messages: upTo(answer.messages + 1) });
    return outcomeOf(answer);
  } catch (error) {
    if (error === signal?.reason) return 'aborted';
    const { code } = error as { code?: unknown };
    if (typeof code !== 'string') throw error;
    return code;
  }
}

function outcomeOf(answer: { granted: boolean; reason?: string }): string {
  return answer.granted ? 'granted' : (answer.reason as string);
}

async function changeGroups(node: WholeNode, random: Random, endMs: number): Promise<void> {
  const windows = { limiter: 'window', windowMs: 200 };
  const changes: (readonly [string, object])[] = [
    ...[0, 1, 200, 5000].map((rate) => ['own', { ...quota(rate), ...OWN }] as const),
    ...[0, 50, 300].map((rate) => ['broad', { ...quota(rate), ...windows }] as const),
    ['own', {}] as const,
    ['own', { enabled: false }] as const,
    ['broad', quota(300)] as const,
    ['temp', quota(50)] as const,
    ['temp', quota(50)] as const,
  ];
  while (performance.now() < endMs) {
    await sleep(random.next() * 150);
    const [name, group] = changes[Math.floor(random.next() * changes.length)];
    if (name === 'temp' && node.groups.numbers.has(name)) node.inForce.remove(name);
    else node.inForce.define(examineGroup(name, group, '(test)').config!);
  }
}
