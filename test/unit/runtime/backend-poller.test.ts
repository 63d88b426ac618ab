import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { metricSample } from '../../../src/node/backends/backend-poller.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

const PAGE = `# HELP queue_bytes waiting
# TYPE queue_bytes gauge
queue_bytes 1200
queue_bytes_total 7
shard_queue{shard="1",note="a } and \\" b"} 5 1700000000
shard_queue{shard="2"} +Inf
`;

describe('one sample of a page', () => {
  it.each([
    { wanted: 'queue_bytes', value: 1200 },
    { wanted: 'queue_bytes_total', value: 7 },
    { wanted: 'shard_queue{shard="1"}', value: 5 },
  ])('$wanted is $value', ({ wanted, value }) => {
    expect(metricSample(PAGE, wanted)).toBe(value);
  });

  it.each([
    { wanted: 'queue', error: /no sample of queue/ },
    { wanted: 'shard_queue', error: /2 samples of shard_queue: add labels/ },
    { wanted: 'shard_queue{shard="3"}', error: /no sample/ },
  ])('$wanted is refused', ({ wanted, error }) => {
    expect(() => metricSample(PAGE, wanted)).toThrow(error);
  });
});

describe('polling a real endpoint', () => {
  let server: Server;
  let scene: HttpScene;
  afterEach(async () => {
    await scene.close();
    server.closeAllConnections();
    server.close();
  });

  async function polling(answer: RequestListener, metric = 'queue_bytes', timeoutMs = 5000): Promise<void> {
    server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
    const db = { url, metric, target: 800, spring: 200, everyMs: 100, zone: 'a' };
    scene = await readyScene({ backends: { db }, constants: { backends: { timeoutMs } } });
  }

  async function until(isTrue: () => boolean): Promise<void> {
    for (let turn = 0; turn < 500 && !isTrue(); turn++) await sleep(20);
    expect(isTrue()).toBe(true);
  }

  it('the level reaches the log, and the ratio follows', async () => {
    await polling((_, response) => response.end(PAGE));
    const known = () => [...(scene.node.coordinator?.targets.backends.all() ?? [])];
    await until(() => known().length === 1);
    expect(known()[0]).toMatchObject({ name: 'db', zone: 'a', ratio: 0.5 });
  });

  it.each<{ says: string; answer: RequestListener; reason: RegExp; timeoutMs?: number }>([
    { says: 'hangs', answer: () => undefined, reason: /timeout/i, timeoutMs: 150 },
    { says: 'answers garbage', answer: (_, response) => response.end('<html>'), reason: /no sample of queue_bytes/ },
    { says: 'answers 500', answer: (_, response) => response.writeHead(500).end(PAGE), reason: /status 500/ },
    {
      says: 'is not a number',
      answer: (_, response) => response.end('queue_bytes NaN\n'),
      reason: /level must be a finite number/,
    },
    {
      says: 'sends without end',
      answer: (_, response) => {
        const more = () => {
          while (!response.destroyed && response.write('#'.repeat(65_536)));
        };
        response.on('drain', more);
        more();
      },
      reason: /more than 4194304 bytes|timeout/,
    },
  ])('an endpoint that $says is logged once, and limits nothing', async ({ answer, reason, timeoutMs }) => {
    await polling(answer, undefined, timeoutMs);
    await until(() => scene.node.poller.polls.failed >= 2);
    expect([...(scene.node.coordinator?.targets.backends.all() ?? [])]).toEqual([]);
    const lines = scene.log.filter(({ message }) => message.startsWith('health of a backend cannot be read'));
    expect(lines).toHaveLength(1);
    expect(lines[0]?.facts?.reason).toMatch(reason);
  });
});
