import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import type { KafkaTopicConfig } from '../../src/topic/kafka/kind.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { LagWatch, settled, text, within } from '../conformance/topic-expectations.js';
import type { Kafka } from './kafka.js';
import { kafkaTopicConfig } from './kafka-topic-config.js';

const DEADLINE_MS = 20_000;
/** A broker that is killed is missed in milliseconds, a frozen one after its request's time and a fetch: 1.3 s here. */
const NOTICE_MS = 5000;
const APPEND_EVERY_MS = 20;
const SHORT = { connectionTimeoutMs: 1000, requestTimeoutMs: 1000 };

/** What the adapter does while a broker of its own is killed, frozen, or not listened to. */
export function kafkaOutages(broker: () => Kafka): void {
  describe('kafka: outages', () => {
    let kafka: Kafka;
    beforeEach(() => {
      kafka = broker();
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((topic) => topic.close()));
      await kafka.nodes[0].thaw();
      if (!kafka.nodes[0].isRunning()) await kafka.nodes[0].start();
    }, 60_000);

    it('notices a killed broker, goes on without a gap when it is back, and opens what could not open', async () => {
      const config = kafkaTopicConfig(kafka.brokers, { appendTimeoutMs: 1000 });
      const { topic, listener } = make(config);
      await topic.open(listener);
      const writer = new Writer(topic);
      await listener.until('25 records', () => listener.records.length >= 25, DEADLINE_MS);
      await kafka.nodes[0].kill();
      await inTime(
        'a killed broker is noticed',
        listener.until('lost', () => listener.lost.length === 1, NOTICE_MS),
      );
      const newcomer = make(config);
      const opening = settled(newcomer.topic.open(newcomer.listener));
      await newcomer.listener.until('lost', () => newcomer.listener.lost.length === 1, NOTICE_MS);
      expect(await Promise.race([opening, sleep(300).then(() => 'pending')])).toBe('pending');
      await kafka.nodes[0].start();
      await inTime(
        'going on',
        listener.until('recovered', () => listener.recovered === 1, NOTICE_MS),
      );
      expect(await within(NOTICE_MS, 'open', () => opening)).toBe('done');
      await untilWritten(writer, 25);
      await writer.stop();
      expect(writer.failed).toBeGreaterThan(0);
      await expectComplete(listener, writer.acknowledged);
      expect(topic.counters.reconnects).toBe(1);
      await newcomer.listener.until('caught up', () => newcomer.listener.caughtUpAfter.length === 1, DEADLINE_MS);
      await expectComplete(newcomer.listener, writer.acknowledged);
      expect(newcomer.listener).toMatchObject({ recovered: 1, failures: [] });
      expect(newcomer.listener.lost).toHaveLength(1);
    }, 60_000);

    it('notices a frozen broker, keeps the event loop free, closes in time, and goes on when it thaws', async () => {
      const config = kafkaTopicConfig(kafka.brokers, { ...SHORT, appendTimeoutMs: 800 });
      const [staying, leaving] = [make(config), make(config)];
      for (const { topic, listener } of [staying, leaving]) await topic.open(listener);
      const writer = new Writer(staying.topic);
      await staying.listener.until('25 records', () => staying.listener.records.length >= 25, DEADLINE_MS);
      const lag = new LagWatch();
      await kafka.nodes[0].freeze();
      await inTime(
        'a frozen broker is noticed',
        staying.listener.until('lost', () => staying.listener.lost.length === 1, NOTICE_MS),
      );
      const pending = settled(leaving.topic.append([{ partition: 0, key: 'leaving', value: null }]));
      await within(2000, 'close', () => leaving.topic.close());
      expect(await pending).toBe('TOPIC_CLOSED');
      // Longer than a whole attempt to connect, so that recovery begins with one that is under way.
      await sleep(1.5 * SHORT.requestTimeoutMs);
      await kafka.nodes[0].thaw();
      await inTime(
        'going on when it thaws',
        staying.listener.until('recovered', () => staying.listener.recovered === 1, NOTICE_MS),
      );
      expect(lag.stop()).toBeLessThan(500);
      await untilWritten(writer, 25);
      await writer.stop();
      await expectComplete(staying.listener, writer.acknowledged);
      expect(staying.listener.failures).toEqual([]);
    }, 60_000);

    it('does not take a pause of its own process for an outage', async () => {
      const { topic, listener } = make(kafkaTopicConfig(kafka.brokers, { requestTimeoutMs: 300, fetchMaxWaitMs: 100 }));
      await topic.open(listener);
      await listener.until('caught up', () => listener.caughtUpAfter.length === 1, DEADLINE_MS);
      await sleep(100);
      // Blocks the event loop for longer than any deadline, as a stopped process or a long collection does.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
      await topic.append([{ partition: 0, key: 'after', value: null }]);
      await listener.until('the record', () => listener.has('after'), DEADLINE_MS);
      expect(listener.lost).toEqual([]);
    });
  });
}

const opened: KafkaReportTopic[] = [];

function make(config: KafkaTopicConfig) {
  const topic = new KafkaReportTopic(config);
  opened.push(topic);
  return { topic, listener: new RecordingListener() };
}

/** A node's behaviour: appends its newest value again and again, whatever becomes of the one before. */
class Writer {
  readonly acknowledged: string[] = [];
  failed = 0;
  #running = true;
  readonly #done: Promise<void>;

  constructor(topic: KafkaReportTopic) {
    this.#done = this.#write(topic);
  }

  stop(): Promise<void> {
    this.#running = false;
    return this.#done;
  }

  async #write(topic: KafkaReportTopic): Promise<void> {
    for (let i = 0; this.#running; i++) {
      const value = `value ${i}`;
      const outcome = await settled(topic.append([{ partition: 0, key: 'writer', value: Buffer.from(value) }]));
      if (outcome === 'done') this.acknowledged.push(value);
      else this.failed++;
      await sleep(APPEND_EVERY_MS);
    }
  }
}

/** Rejects itself where it takes longer than NOTICE_MS. */
async function inTime(what: string, awaited: Promise<unknown>): Promise<void> {
  const sinceMs = performance.now();
  await awaited;
  console.log(`${what}: after ${(performance.now() - sinceMs).toFixed(0)} ms`);
}

async function untilWritten(writer: Writer, more: number): Promise<void> {
  const wanted = writer.acknowledged.length + more;
  const givenUpAt = performance.now() + DEADLINE_MS;
  while (writer.acknowledged.length < wanted) {
    if (performance.now() > givenUpAt) throw new Error(`only ${writer.acknowledged.length} of ${wanted} written`);
    await sleep(APPEND_EVERY_MS);
  }
}

/** Every acknowledged value, in order, and every offset: nothing is compacted as soon as this. */
async function expectComplete(listener: RecordingListener, acknowledged: readonly string[]): Promise<void> {
  const values = () => listener.records.map(({ value }) => text(value));
  await listener.until('the last value', () => values().includes(acknowledged.at(-1) ?? ''), DEADLINE_MS);
  const known = new Set(acknowledged);
  expect(values().filter((value) => value !== null && known.has(value))).toEqual(acknowledged);
  expect(listener.records.map(({ offset }) => offset)).toEqual(listener.records.map((_, i) => i));
}
