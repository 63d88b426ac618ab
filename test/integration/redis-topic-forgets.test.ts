import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RedisTopicConfig } from '../../src/topic/redis/kind.js';
import { RedisReportTopic } from '../../src/topic/redis/redis-report-topic.js';
import { APPEND, RESTORE } from '../../src/topic/redis/scripts.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { expectRisingOffsets, settled, text, within } from '../conformance/topic-expectations.js';
import { InterruptingProxy } from '../redis/interrupting-proxy.js';
import { type RedisServer, startRedis } from '../redis/redis.js';
import { buildMovedClock, findRedis } from '../redis/redis-source.js';
import { redisTopicConfig } from '../redis/redis-topic-config.js';

const DEADLINE_MS = 15_000;
const BUILT_TOPIC = pathToFileURL(join(import.meta.dirname, '../../dist/src/topic/redis/redis-report-topic.js')).href;
const isHere = (await findRedis()) !== null;
const folder = await mkdtemp(join(tmpdir(), 'quotamesh-clock-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const movedClock = await buildMovedClock(folder);
if (movedClock === null)
  console.log("skipped: moving Redis's clock needs a redis-server outside a container and a C compiler (cc)");

describe.skipIf(!isHere)('what Redis forgets', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  const opened: RedisReportTopic[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((topic) => topic.close())));

  async function open(config: RedisTopicConfig, log: 'reports' | 'registry' = 'reports') {
    const lines: string[] = [];
    const hooks = { keepsForever: log === 'registry', log: (_: string, line: string) => lines.push(line) };
    const topic = new RedisReportTopic({ cluster: 'c', log }, config, hooks);
    opened.push(topic);
    const listener = new RecordingListener();
    await within(DEADLINE_MS, 'open', () => topic.open(listener));
    await listener.until('caught up', () => listener.caughtUpAfter.length > 0, DEADLINE_MS);
    return { topic, listener, lines };
  }

  const record = (key: string, value: string | null) => {
    return { partition: 0, key, value: value === null ? null : Buffer.from(value) };
  };
  const newest = ({ newest: map }: RecordingListener) => Object.fromEntries([...map].map(([k, v]) => [k, text(v)]));

  const timesOf = ({ records }: RecordingListener, key: string) => records.filter((read) => read.key === key).length;

  async function untilRestored(lines: readonly string[]): Promise<void> {
    const givenUpAt = performance.now() + DEADLINE_MS;
    while (!lines.some((line) => line.includes('put back'))) {
      if (performance.now() > givenUpAt) throw new Error(`nothing was put back: ${lines.join(' | ')}`);
      await sleep(20);
    }
  }

  it.each(['reports', 'registry'] as const)(
    '%s: what was written elsewhere below the own position is another log',
    async (log) => {
      const config = redisTopicConfig([redis.address]);
      const { topic, listener, lines } = await open(config, log);
      await topic.append([record('own', '1'), record('both', 'old')]);
      await listener.until('both', () => listener.records.length === 2, DEADLINE_MS);
      expect(listener.epochs).toHaveLength(1);
      // What another Redis under the same name holds, on which other nodes were.
      const keys = `${config.prefix}c:${log}:`;
      const [first] = listener.records;
      const offset = (first?.offset ?? 0) - 10;
      await redis.command('DEL', `${keys}log`, `${keys}newest`, `${keys}meta`);
      await redis.command('HSET', `${keys}newest`, 'theirs', `${offset}\n1000 1\nfrom elsewhere`);
      await untilRestored(lines);
      await listener.until('another log', () => listener.epochs.length === 2 && listener.has('theirs'), DEADLINE_MS);
      await listener.until('caught up again', () => listener.caughtUpAfter.length === 2, DEADLINE_MS);
      expect(newest(listener)).toMatchObject({ theirs: 'from elsewhere', own: '1', both: 'old' });
      expectRisingOffsets(topic, listener.records);
      await topic.append([record('after', 'on')]);
      await listener.until('what comes after', () => listener.has('after'), DEADLINE_MS);
    },
  );

  /** What eviction takes from one log: whole keys, whichever the server likes. */
  const evict =
    (...names: string[]) =>
    async (config: RedisTopicConfig, log: string) =>
      void (await redis.command('DEL', ...names.map((name) => `${config.prefix}c:${log}:${name}`)));
  const WAYS: { what: string; forget(config: RedisTopicConfig, log: string): Promise<void> }[] = [
    { what: 'an evicted `newest` and `log`', forget: evict('newest', 'log') },
    { what: 'FLUSHALL', forget: async () => void (await redis.command('FLUSHALL')) },
    { what: 'a restart without a disk', forget: () => redis.kill().then(() => redis.start()) },
  ];
  for (const log of ['reports', 'registry'] as const) {
    it.each(WAYS)(`${log}: $what is noticed, and a newcomer reads what was there`, async ({ forget }) => {
      const config = redisTopicConfig([redis.address]);
      const [one, two] = [await open(config, log), await open(config, log)];
      await one.topic.append([record('a', '1'), record('b', '1'), record('gone', 'x')]);
      await two.topic.append([record('a', '2'), record('gone', null)]);
      for (const { listener } of [one, two]) {
        await listener.until('all read', () => listener.records.length >= 5, DEADLINE_MS);
      }
      await forget(config, log);
      await Promise.all([untilRestored(one.lines), untilRestored(two.lines)]);
      const newcomer = await open(config, log);
      expect(newest(newcomer.listener)).toMatchObject({ a: '2', b: '1' });
      expect(newest(newcomer.listener).gone ?? null).toBeNull();
      await two.topic.append([record('after', 'on')]);
      for (const { topic, listener } of [one, two, newcomer]) {
        await listener.until('the record after', () => listener.has('after'), DEADLINE_MS);
        expectRisingOffsets(topic, listener.records);
        expect(listener.failures).toEqual([]);
        expect(listener.lost).toHaveLength(listener.recovered);
        expect(listener.epochs).toHaveLength(1);
      }
    });
  }

  const hashOf = (script: string) => createHash('sha1').update(script).digest('hex');
  const STEPS = { 'own records': hashOf(APPEND), 'what it lacks': 'HSCAN', 'what is put back': hashOf(RESTORE) };
  it.each(
    Object.keys(STEPS).flatMap((step) => (['cuts the connection', 'refuses'] as const).map((how) => ({ step, how }))),
  )('is said again and put back by the next link where Redis $how at $step', async ({ step, how }) => {
    const proxy = await InterruptingProxy.start(redis.port);
    const config = redisTopicConfig([redis.address]);
    const gone = await open(config);
    await gone.topic.append([record('theirs', '1')]);
    await gone.topic.close();
    const { topic, listener, lines } = await open({ ...config, addresses: [proxy.address] });
    await topic.append([record('own', '1')]);
    await listener.until('both', () => listener.records.length === 2, DEADLINE_MS);
    proxy.interruptNext(STEPS[step as keyof typeof STEPS], how);
    await redis.command('FLUSHALL');
    await listener.until('own again', () => timesOf(listener, 'own') > 1, DEADLINE_MS);
    await untilRestored(lines);
    expect(proxy.interrupted).toBe(1);
    const newcomer = await open(config);
    expect(newest(newcomer.listener)).toEqual({ own: '1', theirs: '1' });
  });

  it('a newcomer to a young log waits until running nodes have put back what it lost', async () => {
    const config = redisTopicConfig([redis.address], { settleMs: 2000 });
    const running = await open(config);
    await running.topic.append([record('a', '1')]);
    await running.listener.until('read', () => running.listener.has('a'), DEADLINE_MS);
    await redis.command('FLUSHALL');
    const newcomer = await open(config);
    expect(newest(newcomer.listener)).toEqual({ a: '1' });
    expect(newcomer.listener.caughtUpAfter).toEqual([1]);
  });

  it('a process whose topic is closed while it waits for a young log ends at once', async () => {
    const config = redisTopicConfig([redis.address], { settleMs: 60_000 });
    const program = `
      import { RedisReportTopic } from ${JSON.stringify(BUILT_TOPIC)};
      const topic = new RedisReportTopic({ cluster: 'c', log: 'reports' }, ${JSON.stringify(config)});
      await topic.open({ onEpoch() {}, onLost() {}, onRecovered() {}, onFailed() {} });
      await topic.close();
    `;
    const args = ['--input-type=module', '--eval', program];
    await promisify(execFile)(process.execPath, args, { timeout: DEADLINE_MS });
  });

  it('counts what others wrote below its prefix, names it once, and goes on', async () => {
    const config = redisTopicConfig([redis.address]);
    const { topic, listener, lines } = await open(config);
    const keys = `${config.prefix}c:reports:`;
    await topic.append([record('a', '1')]);
    for (let i = 0; i < 3; i++) await redis.command('XADD', `${keys}log`, '*', 'foo', 'bar');
    await redis.command('HSET', `${keys}newest`, 'foreign', 'not ours');
    await topic.append([record('b', '1')]);
    await redis.command('XADD', `${keys}log`, '9007199254740000-0', 'foo', 'bar');
    await topic.append([record('c', '1')]);
    await listener.until('all', () => listener.has('c'), DEADLINE_MS);
    expect(topic.counters.foreignEntries).toBeGreaterThanOrEqual(3);
    expect(lines.filter((line) => line.includes('foo') || line.includes('has not written'))).toHaveLength(1);
    await redis.command('SET', `${keys}other`, 'x');
    const newcomer = await open(config);
    expect(newest(newcomer.listener)).toMatchObject({ a: '1', b: '1', c: '1' });
    expectRisingOffsets(topic, listener.records);
  });

  it('a key of another type is an error that names the remedy, and is got over when it is gone', async () => {
    const config = redisTopicConfig([redis.address]);
    await redis.command('SET', `${config.prefix}c:reports:log`, 'a string');
    const topic = new RedisReportTopic({ cluster: 'c', log: 'reports' }, config);
    opened.push(topic);
    expect(await within(DEADLINE_MS, 'open', () => settled(topic.open(new RecordingListener())))).toBe(
      'TOPIC_SETTINGS',
    );
    await redis.command('DEL', `${config.prefix}c:reports:log`);
    const { topic: second, listener } = await open(config);
    await second.append([record('a', '1')]);
    await redis.command('SET', `${config.prefix}c:reports:log`, 'a string');
    await listener.until('lost', () => listener.lost.length > 0, DEADLINE_MS);
    await redis.command('DEL', `${config.prefix}c:reports:log`);
    await listener.until('recovered', () => listener.recovered > 0, DEADLINE_MS);
    expect(await settled(second.append([record('b', '1')]))).toBe('done');
  });

  it('says lost while Redis takes no writes, and recovers with the first that it takes', async () => {
    const { topic, listener } = await open(redisTopicConfig([redis.address]));
    await redis.command('CONFIG', 'SET', 'min-replicas-to-write', '1');
    expect(await settled(topic.append([record('a', '1')]))).toBe('APPEND_REFUSED');
    expect(listener.lost).toHaveLength(1);
    await redis.command('CONFIG', 'SET', 'min-replicas-to-write', '0');
    expect(await settled(topic.append([record('a', '2')]))).toBe('done');
    expect(listener.recovered).toBe(1);
  });

  it.skipIf(movedClock === null)(
    'a clock that jumps an hour either way loses nothing and reorders nothing',
    async () => {
      const file = join(folder, 'clock');
      await writeFile(file, '0');
      const own = await startRedis({ environment: { LD_PRELOAD: String(movedClock), CLOCK_FILE: file } });
      try {
        const config = redisTopicConfig([own.address]);
        const { topic, listener } = await open(config);
        await topic.append([record('now', '1')]);
        for (const offset of ['-3600', '3600', '0']) {
          await writeFile(file, offset);
          await topic.append([record(`at ${offset}`, '1')]);
          await own.command('FLUSHALL');
          await topic.append([record(`flushed at ${offset}`, '1')]);
        }
        await listener.until('all', () => listener.has('flushed at 0'), DEADLINE_MS);
        expectRisingOffsets(topic, listener.records);
        const appendMs = (key: string) => listener.records.find((read) => read.key === key)?.appendMs ?? Number.NaN;
        expect(appendMs('at -3600') - appendMs('now')).toBeLessThan(-3_000_000);
        expect(appendMs('at 3600') - appendMs('now')).toBeGreaterThan(3_000_000);
        expect(listener.lost).toEqual([]);
      } finally {
        await own.stop();
      }
    },
  );
});
