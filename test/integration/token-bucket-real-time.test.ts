import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { monotonicClock } from '../../src/base/ports/clock.js';
import { BYTES, MESSAGES } from '../../src/core/base/vocabulary.js';
import { Buckets } from '../../src/core/limiter/buckets.js';
import { Producer, PublishThrottle } from '../../src/core/limiter/publish-throttle.js';
import { ThrottleTracker } from '../../src/core/limiter/throttle-tracker.js';
import { readVectors } from '../vectors/read-vectors.js';
import { createWholeNode, type WholeNode } from '../whole-node.js';

/** The endToEnd cases of token-bucket.json in real time, with the tolerances that the file states. */
interface RateCase {
  readonly limitPerSec: number;
  readonly members: { readonly producers?: number; readonly consumers: number };
  readonly messages: number;
  readonly skipFirstSeconds?: number;
  readonly averageTolerance: number;
  readonly twoSecondMeanTolerance: number;
  readonly finishWithinSec: number;
}

interface SendStep {
  readonly producer?: string;
  readonly send?: number;
  readonly bytes?: number;
  readonly resolvesWithinMs?: number;
  readonly eachResolvesWithinMs?: number;
  readonly stillPendingAfterMs?: number;
  readonly waitMs?: number;
  readonly detachLimit?: true;
  readonly close?: true;
}

interface SendCase {
  readonly limit: { readonly msgsPerSec: number; readonly bytesPerSec: number };
  readonly messageBytes?: number;
  readonly runs?: number;
  readonly steps: readonly SendStep[];
}

const CASES = readVectors<{ readonly cases: readonly { readonly id: string; readonly kind: string }[] }>(
  'token-bucket.json',
).cases;

function endToEnd<Case>(name: string): Case {
  const found = CASES.find(({ id }) => id === `endToEnd/${name}`);
  if (found === undefined) throw new Error(`no case endToEnd/${name}`);
  return found as Case;
}

test('the file has these four cases', () => {
  const names = CASES.filter(({ kind }) => kind === 'endToEnd').map(({ id }) => id.replace('endToEnd/', ''));
  expect(names.sort()).toEqual([...Object.keys(RATE_CASES), ...SEND_CASES].sort());
});

const RATE_CASES = { 'publish-overconsuming': 'publish', 'dispatch-overconsuming': 'dispatch' } as const;
const SEND_CASES = ['group-limit-one-message', 'owner-closed-while-throttled'];

describe.concurrent('a node holds its rate', () => {
  test.each(Object.entries(RATE_CASES))('%s', async (name, direction) => {
    const { limitPerSec, members, messages, skipFirstSeconds = 0, ...bounds } = endToEnd<RateCase>(name);
    const quota = { [direction]: { messagesPerSecond: limitPerSec } };
    const node = await createWholeNode({
      config: { cluster: name, node: 'n', topic: 'memory', groups: { g: { quota } } },
    });
    const owners = members.producers ?? members.consumers;
    const beganMs = monotonicClock();
    const grantedMs = await takeAll(node, { direction, owners, messages, waitMs: 60_000 });
    const tookSec = (monotonicClock() - beganMs) / 1000;
    await node.close();
    const perSecond = countsPerSecond(grantedMs.map((atMs) => atMs - beganMs)).slice(skipFirstSeconds);
    const average = perSecond.reduce((sum, count) => sum + count, 0) / perSecond.length;
    console.log(`${name}: ${messages} in ${tookSec.toFixed(2)} s, per whole second ${perSecond.join(' ')}`);
    expect(perSecond.length).toBeGreaterThanOrEqual(3);
    expect(Math.abs(average / limitPerSec - 1)).toBeLessThanOrEqual(bounds.averageTolerance);
    for (let at = 1; at < perSecond.length; at++) {
      const mean = (perSecond[at - 1] + perSecond[at]) / 2;
      expect(Math.abs(mean / limitPerSec - 1)).toBeLessThanOrEqual(bounds.twoSecondMeanTolerance);
    }
    expect(tookSec).toBeLessThanOrEqual(bounds.finishWithinSec);
  });
});

describe.concurrent('a connection is read on in time', () => {
  const runs = SEND_CASES.flatMap((name) =>
    Array.from({ length: endToEnd<SendCase>(name).runs ?? 1 }, (_, run) => [name, run + 1] as const),
  );
  test.each(runs)('%s, run %i', async (name) => {
    const { limit, messageBytes = 1, steps } = endToEnd<SendCase>(name);
    const broker = new Broker(limit);
    for (const step of steps) await perform(broker, step, messageBytes);
    broker.end();
  });
});

interface Load {
  readonly direction: 'publish' | 'dispatch';
  readonly owners: number;
  readonly messages: number;
  readonly waitMs: number;
}

/** Every owner asks for all of its messages at once; answers when each was granted. */
async function takeAll(node: WholeNode, { direction, owners, messages, waitMs }: Load): Promise<number[]> {
  const granted = Array.from({ length: messages }, async (_, at) => {
    const options = { direction, client: `owner-${at % owners}`, waitMs };
    const decision = await node.acquire('g', { messages: 1 }, options);
    expect(decision.granted).toBe(true);
    return monotonicClock();
  });
  return Promise.all(granted);
}

/** Without the second that is not over. */
function countsPerSecond(atMs: readonly number[]): number[] {
  const counts = new Array<number>(Math.floor(Math.max(...atMs) / 1000)).fill(0);
  for (const at of atMs) {
    const second = Math.floor(at / 1000);
    if (second < counts.length) counts[second] = counts[second] + 1;
  }
  return counts;
}

async function perform(broker: Broker, step: SendStep, messageBytes: number): Promise<void> {
  const { send = 0, bytes = messageBytes, producer = 'A' } = step;
  const withinMs = step.resolvesWithinMs ?? step.eachResolvesWithinMs;
  if (step.waitMs !== undefined) await sleep(step.waitMs);
  if (step.detachLimit) broker.detachLimit();
  if (step.close) broker.close(producer);
  for (let sent = 0; sent < send; sent++) {
    let isDone = false;
    const beganMs = monotonicClock();
    const accepted = broker.send(producer, bytes).then(() => {
      isDone = true;
    });
    if (withinMs !== undefined) {
      await accepted;
      expect(monotonicClock() - beganMs).toBeLessThanOrEqual(withinMs);
    } else if (step.stillPendingAfterMs !== undefined) {
      await sleep(step.stillPendingAfterMs);
      expect(isDone).toBe(false);
    }
  }
}

/** One connection that several producers share; what is sent while it is not read waits in its socket. */
class Broker {
  readonly #buckets = new Buckets(1);
  readonly #tracker = new ThrottleTracker((on) => this.#setReading(on));
  readonly #throttle = new PublishThrottle({
    buckets: this.#buckets,
    row: 0,
    reason: 'groupRate',
    debtMs: 60_000,
    wakes: 'expected',
    onReleased: () => undefined,
  });
  readonly #producers = new Map<string, Producer>();
  readonly #socket: { readonly producer: string; readonly bytes: number; readonly onAccepted: () => void }[] = [];
  #isReading = true;
  #timer: NodeJS.Timeout | undefined;

  constructor({ msgsPerSec, bytesPerSec }: SendCase['limit']) {
    this.#buckets.setLimit(0, MESSAGES, msgsPerSec, msgsPerSec, monotonicClock());
    this.#buckets.setLimit(0, BYTES, bytesPerSec, bytesPerSec, monotonicClock());
    this.#buckets.fill(0, monotonicClock());
  }

  send(producer: string, bytes: number): Promise<void> {
    return new Promise((onAccepted) => {
      this.#socket.push({ producer, bytes, onAccepted });
      this.#read();
    });
  }

  /** What it has sent and the broker has not read goes with it. */
  close(name: string): void {
    const left = this.#socket.filter(({ producer }) => producer !== name);
    this.#socket.splice(0, this.#socket.length, ...left);
    this.#throttle.close(this.#producerOf(name), monotonicClock());
    this.#producers.delete(name);
  }

  detachLimit(): void {
    for (const dimension of [MESSAGES, BYTES]) {
      this.#buckets.setLimit(0, dimension, Infinity, 1, monotonicClock());
    }
    this.#throttle.wake(monotonicClock());
    this.#plan();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #producerOf(name: string): Producer {
    const producer = this.#producers.get(name) ?? new Producer(this.#tracker);
    this.#producers.set(name, producer);
    return producer;
  }

  #setReading(on: boolean): void {
    this.#isReading = on;
    if (on) setImmediate(() => this.#read());
  }

  #read(): void {
    while (this.#isReading && this.#socket.length > 0) {
      const { producer, bytes, onAccepted } = this.#socket.shift()!;
      this.#throttle.publish(this.#producerOf(producer), 1, bytes, monotonicClock());
      onAccepted();
    }
    this.#plan();
  }

  #plan(): void {
    clearTimeout(this.#timer);
    const waitMs = this.#throttle.nextWakeMs - monotonicClock();
    if (waitMs === Infinity) return;
    this.#timer = setTimeout(
      () => {
        this.#throttle.wake(monotonicClock());
        this.#plan();
      },
      Math.max(0, Math.ceil(waitMs)),
    );
  }
}
