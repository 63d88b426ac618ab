import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { Amounts, Reservation, WaitOptions } from '../../../src/node/api/decision.js';
import { partOf } from '../../property/seed.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

let scene: HttpScene;
afterEach(() => scene.close());

/** The CPU time that all threads of this process have used so far. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function sceneWith(groups: Readonly<Record<string, unknown>>, others: Readonly<Record<string, unknown>> = {}) {
  scene = await readyScene({ groups, ...others });
  return scene.node;
}

const publish = (messagesPerSecond: number) => ({ publish: { messagesPerSecond } });

describe('acquire', () => {
  test('answers with the refusal when its time is up, and the signal’s reason when it is aborted', async () => {
    const node = await sceneWith({ a: { quota: publish(0) } });
    const refused = await node.acquire('a', { messages: 1 }, { waitMs: 30 });
    expect(refused).toMatchObject({ granted: false, level: 'group', dimension: 'messages' });
    const stop = new AbortController();
    const waiting = node.acquire('a', { messages: 1 }, { waitMs: 5000, signal: stop.signal });
    expect(node.limiter.heldBack[0]).toBe(1);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect([node.limiter.heldBack[0], node.gate.waiting.count]).toEqual([0, 0]);
  });

  test('clients take turns, and one that its own limit holds does not hold the others', async () => {
    const perClient = { publish: { messagesPerSecond: 0.1 } };
    const node = await sceneWith({ a: { quota: publish(1000), perClient } });
    const of = (client: string, waitMs: number) => node.acquire('a', { messages: 1 }, { waitMs, client });
    expect((await of('greedy', 0)).granted).toBe(true);
    const held = of('greedy', 200);
    const others = await Promise.all(Array.from({ length: 20 }, (_, at) => of(`c${at}`, 1000)));
    expect(others.every(({ granted }) => granted)).toBe(true);
    expect(await held).toMatchObject({ granted: false, level: 'client' });
  });

  test('whoever does not wait takes turns with those who do: overtakes nobody, and is not starved', async () => {
    const node = await sceneWith({ a: { quota: publish(5), topics: 'even' } });
    while (node.tryAcquire('a', { messages: 1 }).granted);
    let stops = false;
    const loop = async (client: string) => {
      while (!stops && (await node.acquire('a', { messages: 1 }, { waitMs: 5000, client })).granted);
    };
    const waiting = ['x', 'y', 'z'].map(loop);
    const busyUntilMs = performance.now() + 450;
    while (performance.now() < busyUntilMs);
    // Two tokens are there; nobody of the line has been served since it began, unless joining took 200 ms.
    expect(node.tryAcquire('a', { messages: 1 }).granted).toBe(false);
    expect(node.reserve('a', { messages: 1 }).granted).toBe(false);
    let granted = 0;
    for (const deadlineMs = performance.now() + 15_000; granted < 3 && performance.now() < deadlineMs; await sleep(1)) {
      for (let asked = 0; asked < 5; asked++) if (node.tryAcquire('a', { messages: 1 }).granted) granted++;
    }
    stops = true;
    await Promise.all(waiting);
    expect(granted).toBeGreaterThanOrEqual(3);
  });

  test('wrong options are named', async () => {
    const node = await sceneWith({ a: { quota: publish(100) } });
    const acquire = (options: unknown) => node.acquire('a', { messages: 1 }, options as WaitOptions);
    await expect(acquire(undefined)).rejects.toThrow(/waitMs must be a number from 0/);
    await expect(acquire({ waitMs: 1, signal: 5 })).rejects.toThrow(/signal must be an AbortSignal/);
    await expect(acquire({ waitMs: 1, signal: null })).rejects.toThrow(/signal must be an AbortSignal/);
    const take = node.takeBatch('a', { messages: 1 }, { signal: 5 as unknown as AbortSignal });
    await expect(take).rejects.toThrow(/signal must be an AbortSignal/);
    expect(node.limiter.attempted.at(0)).toBe(0);
  });

  test('a bound on those who wait; stopping answers them all', async () => {
    const node = await sceneWith({ a: { quota: publish(0) } }, { limits: { maxWaiting: 3 } });
    const waiting = Array.from({ length: 3 }, () => node.acquire('a', { messages: 1 }, { waitMs: 10_000 }));
    await expect(node.acquire('a', { messages: 1 }, { waitMs: 10 })).rejects.toMatchObject({ code: 'WAITING_FULL' });
    await node.close();
    expect(await Promise.all(waiting)).toMatchObject(Array(3).fill({ granted: false, reason: 'not-ready' }));
  });

  test('thousands that end with one signal: begun and ended in time, nothing left behind', async () => {
    const node = await sceneWith({ a: { quota: publish(0) } });
    const stop = new AbortController();
    const cpu = process.cpuUsage();
    const waiting = Array.from({ length: 20_000 }, () =>
      node.acquire('a', { messages: 1 }, { waitMs: 60_000, signal: stop.signal }).catch((reason: Error) => reason),
    );
    expect(node.gate.waiting.count).toBe(20_000);
    stop.abort(new Error('service stops'));
    const reasons = new Set(await Promise.all(waiting));
    expect([...reasons]).toEqual([stop.signal.reason]);
    expect([node.limiter.heldBack[0], node.gate.waiting.count]).toEqual([0, 0]);
    // Quadratic it was 10 s of CPU; 0.2 s now.
    expect(process.cpuUsage(cpu).user / 1e6).toBeLessThan(3);
  });

  test('100,000 waiters do not block the event loop; npm test has a sixth of them', async () => {
    const slices = partOf(100);
    // They are through after 5 s; to ask for all of them takes less than 1 s, or 2 s beside other tests.
    const node = await sceneWith({ a: { quota: publish(2000 * slices) } });
    // In CPU time of this process: what others take of the cores in between is no stop of ours.
    let longestMs = 0;
    let beforeMs = cpuMs();
    const waiting: Promise<unknown>[] = [];
    const watch = setInterval(() => {
      longestMs = Math.max(longestMs, cpuMs() - beforeMs);
      beforeMs = cpuMs();
    }, 5);
    for (let slice = 0; slice < slices; slice++) {
      for (let at = 0; at < 1000; at++) {
        waiting.push(node.acquire('a', { messages: 10 }, { waitMs: 20_000, client: `c${at}` }));
      }
      await sleep(0);
    }
    expect(node.gate.waiting.count).toBeGreaterThan(100 * slices);
    const decisions = (await Promise.all(waiting)) as { granted: boolean }[];
    clearInterval(watch);
    console.log(`${1000 * slices} waiters: longest stop of the event loop ${Math.round(longestMs)} ms`);
    expect(decisions.every(({ granted }) => granted)).toBe(true);
    // About 1 ms per turn; collections of garbage have threads of their own, and count as well.
    expect(longestMs).toBeGreaterThan(0);
    expect(longestMs).toBeLessThan(200);
  });
});

describe('without waiting', () => {
  test('containsTokens takes nothing; consume is never refused; throttleDurationMs says when to go on', async () => {
    const node = await sceneWith({ a: { quota: publish(100) } });
    expect(node.containsTokens('a', { messages: 1 })).toBe(true);
    expect(node.throttleDurationMs('a')).toBe(0);
    node.consume('a', { messages: 50 });
    expect(node.containsTokens('a', { messages: 1 })).toBe(false);
    expect(node.throttleDurationMs('a')).toBeGreaterThan(100);
    expect(node.limiter.admitted.at(0)).toBe(50);
  });

  test('a reservation is settled once', async () => {
    const node = await sceneWith({ a: { quota: publish(100) } });
    const reserved = node.reserve('a', { messages: 4 }) as Reservation;
    expect(reserved.granted).toBe(true);
    reserved.commit({ messages: 2 });
    reserved.commit({ messages: 2 });
    reserved.cancel();
    expect(node.limiter.admitted.at(0)).toBe(2);
    (node.reserve('a', { messages: 1 }) as Reservation).cancel();
    expect(node.limiter.admitted.at(0)).toBe(2);
  });

  test('what a commit does not name was as estimated, as over HTTP; what is no amount leaves it open', async () => {
    const node = await sceneWith({ a: { quota: { publish: { messagesPerSecond: 100, bytesPerSecond: 1000 } } } });
    const reserved = node.reserve('a', { messages: 4, bytes: 50 }) as Reservation;
    for (const wrong of [7, '7', null, undefined, [7]]) {
      expect(() => reserved.commit(wrong as Amounts)).toThrow(/actual must be an object like/);
    }
    expect(() => reserved.commit({ messages: null } as unknown as Amounts)).toThrow(/messages must be .* got null/);
    expect(node.limiter.admitted.at(0)).toBe(0);
    reserved.commit({ messages: 2 });
    expect([node.limiter.admitted.at(0), node.limiter.admitted.at(1)]).toEqual([2, 50]);
  });

  test.each([
    [{ messages: -1 }, /messages must be a finite number ≥ 0, got -1/],
    [{ messages: Number.NaN }, /messages must be a finite number ≥ 0, got NaN/],
    [{ bytes: Number.POSITIVE_INFINITY }, /bytes must be a finite number ≥ 0, got Infinity/],
    [{ messages: 1.5 }, /messages must be a whole number, got 1.5/],
    [{ messages: '5' as unknown as number }, /messages must be a finite number ≥ 0, got "5"/],
    [{ messages: 5n as unknown as number }, /messages must be a finite number ≥ 0, got 5n/],
    [{ messages: null as unknown as number, bytes: 5 }, /messages must be a finite number ≥ 0, got null/],
    [{ messages: 1, bytes: null as unknown as number }, /bytes must be a finite number ≥ 0, got null/],
    [{ messages: Object.create(null) as number }, /messages must be a finite number ≥ 0, got an object/],
    [{ bytes: Symbol('b') as unknown as number }, /bytes must be a finite number ≥ 0, got Symbol\(b\)/],
    [undefined as unknown as Amounts, /amounts must be an object like .*, got nothing/],
    [5 as unknown as Amounts, /amounts must be an object like .*, got 5/],
    [{ messages: 2 ** 53 }, /messages must be at most 2\^53 − 1/],
    [{ messages: 0 }, /messages must not be 0 alone/],
    [{}, /both absent/],
    [{ messages: 1001 }, /above maxRequest 1000 of group a/],
  ])('%o is a typed error, and nothing is charged', async (amounts, message) => {
    const node = await sceneWith({ a: { quota: publish(100) } });
    const before = [...node.limiter.tokens];
    for (const take of ['tryAcquire', 'reserve', 'containsTokens'] as const) {
      expect(() => node[take]('a', amounts)).toThrow(message);
    }
    if (message.source !== 'above maxRequest 1000 of group a')
      expect(() => node.consume('a', amounts)).toThrow(message);
    await expect(node.acquire('a', amounts, { waitMs: 1 })).rejects.toThrow(message);
    expect([...node.limiter.tokens]).toEqual([...before]);
  });

  test.each([
    ['a group that is no text', 5, {}, /group must be a string, got number/],
    ['no group', undefined, {}, /group must be a string, got undefined/],
    [
      'a misspelled direction',
      'a',
      { direction: 'Dispatch' },
      /direction must be "publish" or "dispatch", got "Dispatch"/,
    ],
  ])('%s is a typed error', async (_, group, origin, message) => {
    const node = await sceneWith({ a: { quota: publish(100) } });
    for (const take of ['tryAcquire', 'reserve', 'containsTokens', 'consume'] as const) {
      expect(() => node[take](group as string, { messages: 1 }, origin as object)).toThrow(message);
    }
    expect(() => node.throttleDurationMs(group as string, origin as object)).toThrow(message);
    await expect(node.acquire(group as string, { messages: 1 }, { waitMs: 1, ...(origin as object) })).rejects.toThrow(
      message,
    );
    for (const slot of [0, 1, 2, 3]) expect(node.limiter.attempted.at(slot)).toBe(0);
  });

  test('largest request: ten seconds of the quota, per direction', async () => {
    const node = await sceneWith({ a: { quota: { publish: { messagesPerSecond: 5, bytesPerSecond: 1024 } } } });
    const tooMuch = (amounts: object) => expect(() => node.tryAcquire('a', amounts)).toThrow(/above maxRequest/);
    tooMuch({ messages: 51 });
    tooMuch({ bytes: 65_537 });
    expect(node.tryAcquire('a', { messages: 1e6 }, { direction: 'dispatch' }).granted).toBe(true);
  });
});
