import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type RedisServer, startRedis } from '../redis/redis.js';
import { buildMovedClock, findRedis } from '../redis/redis-source.js';
import { MASTER, type SentinelSet, startSentinels } from '../redis/sentinels.js';
import { AROUND_OUTAGE_MS, surviveOutage } from './outage.js';

const isHere = (await findRedis()) !== null;
let topics = 0;

function topicOf(redis: { readonly address: string }) {
  return { kind: 'redis', addresses: [redis.address], prefix: `outage-${process.pid}-${topics++}:` };
}

/** A Redis killed (it comes back empty) and frozen under load. */
export function redisOutages(outageMs: number): void {
  describe.skipIf(!isHere)(`a Redis outage of ${outageMs / 1000} s under load`, () => {
    const OUTAGES = [
      { what: 'killed with -9 and started again, empty', begin: 'kill', end: 'start' },
      { what: 'frozen (SIGSTOP) and thawed', begin: 'freeze', end: 'thaw' },
    ] as const;
    const options = { timeout: outageMs + AROUND_OUTAGE_MS };
    test.concurrent.each(OUTAGES)('$what', options, async ({ what, begin, end }) => {
      const redis = await startRedis();
      await surviveOutage(topicOf(redis), {
        name: `redis ${what}, ${outageMs / 1000} s`,
        during: () => redis[begin]().then(() => sleep(outageMs)),
        end: () => redis[end](),
        isAway: true,
      }).finally(() => redis.stop());
    });
  });
}

/** What happens in a moment: FLUSHALL, a clock that jumps, and a failover (the Sentinels act after a second). */
export function redisLosses(): void {
  describe.skipIf(!isHere)('a Redis that forgets under load', () => {
    let redis: RedisServer;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis?.stop());

    test('FLUSHALL, three times', async () => {
      const during = async () => {
        for (let i = 0; i < 3; i++) {
          await redis.command('FLUSHALL');
          await sleep(1500);
        }
      };
      const end = async () => {};
      await surviveOutage(topicOf(redis), { name: 'redis FLUSHALL', during, end, isAway: false });
    });

    test('its clock jumps an hour back, two hours on, and home', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'quotamesh-clock-'));
      const movedClock = await buildMovedClock(folder);
      if (movedClock === null) {
        console.log("skipped: moving Redis's clock needs a redis-server outside a container and a C compiler (cc)");
        return;
      }
      const file = join(folder, 'clock');
      await writeFile(file, '0');
      const own = await startRedis({ environment: { LD_PRELOAD: movedClock, CLOCK_FILE: file } });
      const during = async () => {
        for (const offset of ['-3600', '3600', '0']) {
          await writeFile(file, offset);
          await sleep(2500);
        }
      };
      try {
        const end = async () => {};
        await surviveOutage(topicOf(own), { name: 'redis, its clock moved', during, end, isAway: false });
      } finally {
        await own.stop();
        await rm(folder, { recursive: true, force: true });
      }
    });

    for (const way of ['kill', 'freeze'] as const) {
      test(`the master is lost (${way}), and Sentinel makes the replica one`, async () => {
        const set: SentinelSet = await startSentinels();
        const topic = { kind: 'redis', addresses: set.addresses, sentinel: { master: MASTER } };
        const during = async () => {
          await set.servers[0][way]();
          // Sentinel takes its second until it calls the master down: that long nothing can be appended.
          await sleep(900);
        };
        const end = () => set.untilMaster(set.servers[1]);
        try {
          await surviveOutage(topic, { name: `redis failover (${way})`, during, end, isAway: false });
        } finally {
          await set.stop();
        }
      });
    }
  });
}
