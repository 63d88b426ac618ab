import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventQueue } from '../../../sim/cluster/event-queue.js';
import { trafficPlan } from '../../../sim/live/live-traffic.js';
import { playStream } from '../../../sim/load/play-arrivals.js';
import { runScenario } from '../../../sim/run/run-scenario.js';
import { loadBuiltIn } from '../../../sim/scenario/load-scenario.js';
import { shortenScenario } from '../../../sim/scenario/shorten-scenario.js';
import { type System, systemNamed } from '../../../sim/systems.js';
import type { RunResult } from '../../../sim/verdict/run-result.js';
import { type Call, callsIn } from '../../../src/tools/load/call.js';
import { epochNow } from '../../../src/tools/load/epoch-now.js';
import type { LoadPlan } from '../../../src/tools/load/load-order.js';
import { OpenLoad } from '../../../src/tools/load/open-load.js';
import { steadyStream } from '../../cluster/steady-stream.js';
import { someOf } from '../../property/seed.js';

const SEED = 7;
const PATIENCE_MS = 60_000;

describe('open load', () => {
  let server: Server;
  let url = '';
  let asked: Record<string, unknown>[] = [];
  /** Whether the server refuses what it is asked for the first time. */
  let refusesFirst = false;

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        if (request.url === '/livez') return response.end();
        const work = JSON.parse(body);
        asked.push(work);
        const answer = JSON.stringify({ retryAfterMs: 1 });
        const status = refusesFirst && !work.retry ? 429 : 200;
        return response.writeHead(status, { 'content-length': answer.length }).end(answer);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());

  function play(load: OpenLoad, tag: number, arrivals: ReturnType<typeof steadyStream>, sinceMs: number): void {
    const streams = [{ tag, arrivals, group: 'g', urls: [url] }];
    load.play('p', { sinceMs, seed: SEED, patienceMs: PATIENCE_MS, streams });
  }

  /** All calls, when at least that many have ended; a busy machine takes longer. */
  async function answered(load: OpenLoad, count: number): Promise<Call[]> {
    const calls: Call[] = [];
    while (calls.length < count) {
      await sleep(10);
      calls.push(...callsIn(load.collect()));
    }
    await load.finish();
    return [...calls, ...callsIn(load.collect())];
  }

  test('arrivals are due when the simulator lets them arrive, to the bit', async () => {
    const sinceMs = epochNow() + 100;
    const arrivals = steadyStream('a', 500, false);
    const load = new OpenLoad();
    play(load, 3, arrivals, sinceMs);
    const calls = await answered(load, 50);
    const [queue, wantedMs] = [new EventQueue(), [] as number[]];
    playStream(arrivals, { queue, seed: SEED, arrive: () => wantedMs.push(sinceMs + queue.nowMs) > 0 });
    queue.runUntil(60_000);
    const seenMs = calls.map(({ dueMs }) => dueMs).sort((one, other) => one - other);
    expect(seenMs).toEqual(wantedMs.slice(0, seenMs.length));
    const isInOrder = ({ tag, sentMs, dueMs, endedMs }: Call) => tag === 3 && sentMs >= dueMs && endedMs >= sentMs;
    expect(calls.every(isInOrder)).toBe(true);
  });

  /** Each as [time, stream, bytes]; those of the same time in order of their streams. */
  const inOrder = (arrivals: [number, number, number][]) =>
    arrivals.sort(([oneMs, one], [otherMs, other]) => oneMs - otherMs || one - other);

  /** The first attempts, as far as `durationMs`, when the plan is played in virtual time. */
  function drawn({ streams, seed, sinceMs }: LoadPlan, durationMs: number): [number, number, number][] {
    const queue = new EventQueue();
    const arrivals: [number, number, number][] = [];
    for (const stream of streams) {
      const arrive = (_node: number, _messages: number, bytes: number) =>
        arrivals.push([sinceMs + queue.nowMs, stream.tag, bytes]) > 0;
      playStream(stream.arrivals, { queue, seed, arrive });
    }
    queue.runUntil(durationMs);
    return inOrder(arrivals);
  }

  test.each(someOf(['even', 'hot-node-moves', 'bursts', 'messages-and-bytes', 'retry-storm']))(
    '%s: a live run lets arrive what the simulator does with the same seed, piece by piece',
    async (name) => {
      refusesFirst = false;
      const scenario = shortenScenario(loadBuiltIn(name), 5);
      // So long ago that all of it is due at once, and most of it too late to be sent.
      const sinceMs = epochNow() - scenario.durationMs;
      const urls = scenario.nodes.map(() => url);
      const planOf = (seed: number) => trafficPlan(scenario, seed, urls, sinceMs);
      const wanted = drawn(planOf(SEED), scenario.durationMs);
      const load = new OpenLoad();
      load.play('p', planOf(SEED));
      const calls = (await answered(load, wanted.length)).filter(({ retry }) => !retry);
      expect(inOrder(calls.map(({ dueMs, tag, bytes }) => [dueMs, tag, bytes]))).toEqual(wanted);

      const result = runScenario(scenario, systemNamed('max-min') as System, SEED);
      const before = wanted.filter(([dueMs]) => dueMs < sinceMs + scenario.durationMs);
      const messages = planOf(SEED).streams[0].arrivals.piece.messages;
      expect(demandOf(result, 0)).toBeCloseTo(before.length * messages, 0);
      const allBytes = before.reduce((sum, [, , bytes]) => sum + bytes, 0);
      if (result.series[1]) expect(demandOf(result, 1)).toBeCloseTo(allBytes, 0);
      if (name === 'bursts') expect(drawn(planOf(8), scenario.durationMs)).toEqual(wanted);
      else expect(drawn(planOf(8), scenario.durationMs)).not.toEqual(wanted);
    },
  );

  test('what is refused is asked again as often as its stream says, and told apart', async () => {
    [asked, refusesFirst] = [[], true];
    const piece = { messages: 3, leastBytes: 5, mostBytes: 5 };
    const profile = { atMs: [0, 20], rate: [100, 0] };
    const arrivals = { ...steadyStream('a', 0, true), profile, piece, retries: 1, retryAfterMs: 5 };
    const load = new OpenLoad();
    play(load, 0, arrivals, epochNow());
    const calls = await answered(load, 4);
    expect(calls.map(({ retry }) => retry).sort()).toEqual([false, false, true, true]);
    expect(calls.filter(({ outcome }) => outcome === 'refused')).toHaveLength(2);
    expect(asked).toContainEqual({ group: 'g', messages: 3, bytes: 5, retry: true });
  });

  test('what is late by more than a second is not made up for', async () => {
    [asked, refusesFirst] = [[], false];
    const load = new OpenLoad();
    play(load, 1, steadyStream('a', 100, true), epochNow() - 4000);
    const calls = await answered(load, 301);
    expect(calls.filter(({ outcome }) => outcome === 'unsent').length).toBeGreaterThanOrEqual(299);
    expect(asked.length).toBeLessThanOrEqual(calls.length - 299);
  });

  test('another plan under the same name ends the one before', async () => {
    const load = new OpenLoad();
    const arrivals = steadyStream('a', 200, true);
    play(load, 1, arrivals, epochNow());
    await sleep(30);
    const replacedMs = epochNow();
    play(load, 2, arrivals, replacedMs);
    const calls = await answered(load, 30);
    expect(calls.filter(({ tag }) => tag === 2).length).toBeGreaterThan(0);
    expect(calls.filter(({ tag, dueMs }) => tag === 1 && dueMs > replacedMs)).toEqual([]);
  });
});

/** Over the whole run, of a dimension. */
function demandOf({ series, sampleMs }: RunResult, dimension: number): number {
  const rates = Object.values(series[dimension]?.perNode ?? {}).flatMap(({ demand }) => demand);
  return rates.reduce((sum, rate) => sum + (rate * sampleMs) / 1000, 0);
}
