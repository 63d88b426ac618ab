import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisReportTopic } from '../../src/topic/redis/redis-report-topic.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { expectRisingOffsets, settled, text, within } from '../conformance/topic-expectations.js';
import { findRedis } from '../redis/redis-source.js';
import { redisTopicConfig } from '../redis/redis-topic-config.js';
import { MASTER, type SentinelSet, startSentinels } from '../redis/sentinels.js';

const DEADLINE_MS = 20_000;
const isHere = (await findRedis()) !== null;

describe.skipIf(!isHere)('a failover by Sentinel', () => {
  let set: SentinelSet;
  beforeAll(async () => {
    set = await startSentinels();
  });
  afterAll(() => set?.stop());

  it('loses the last acknowledged records, and the nodes say them again', async () => {
    const sentinel = { master: MASTER, username: null, password: null, tls: false };
    const config = redisTopicConfig(set.addresses, { sentinel });
    const open = async () => {
      const topic = new RedisReportTopic({ cluster: 'c', log: 'reports' }, config);
      const listener = new RecordingListener();
      await within(DEADLINE_MS, 'open', () => topic.open(listener));
      await listener.until('caught up', () => listener.caughtUpAfter.length > 0, DEADLINE_MS);
      return { topic, listener };
    };
    const record = (key: string, value: string) => ({ partition: 0, key, value: Buffer.from(value) });
    const [one, two] = [await open(), await open()];
    const [master, replica] = set.servers;
    try {
      await one.topic.append([record('kept', '1'), record('lost', 'old')]);
      await sleep(1200);
      // What is acknowledged from here on never reaches the replica.
      await replica.freeze();
      await one.topic.append([record('lost', 'new')]);
      await two.topic.append([record('lost too', '1')]);
      for (const { listener } of [one, two]) {
        await listener.until('all read', () => listener.records.length >= 4, DEADLINE_MS);
      }
      await master.kill();
      await replica.thaw();
      await set.untilMaster(replica);
      const upMs = performance.now();
      for (const { topic, listener } of [one, two]) {
        await listener.until('recovered', () => listener.recovered === 1, DEADLINE_MS);
        expect(listener.lost).toHaveLength(1);
        expect(await settled(topic.append([record('after', 'on')]))).toBe('done');
      }
      const tookMs = performance.now() - upMs;
      console.log(`[redis failover] appends work ${tookMs.toFixed(0)} ms after the new master takes writes`);
      expect(tookMs).toBeLessThanOrEqual(5000);
      await sleep(1000);
      const newcomer = await open();
      const newest = Object.fromEntries([...newcomer.listener.newest].map(([key, value]) => [key, text(value)]));
      expect(newest).toEqual({ kept: '1', lost: 'new', 'lost too': '1', after: 'on' });
      for (const { topic, listener } of [one, two]) expectRisingOffsets(topic, listener.records);
      await newcomer.topic.close();
    } finally {
      await Promise.all([one.topic.close(), two.topic.close()]);
    }
  });
});
