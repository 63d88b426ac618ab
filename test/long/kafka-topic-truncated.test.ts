import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import { CREATED_WITH } from '../../src/topic/kafka/topic-settings.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { settled, text } from '../conformance/topic-expectations.js';
import { createTopic, withAdmin } from '../kafka/admin.js';
import { type Kafka, type KafkaNode, startKafka } from '../kafka/kafka.js';
import { kafkaTopicConfig } from '../kafka/kafka-topic-config.js';

const READER = fileURLToPath(new URL('../integration/programs/kafka-reader.mjs', import.meta.url));
const DEADLINE_MS = 60_000;
/** Kafka numbers its nodes from 1. */
const REPLICAS: number[] = [1, 2];

let kafka: Kafka | undefined;
const opened: KafkaReportTopic[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((topic) => topic.close()));
  await kafka?.stop();
});

/**
 * An unclean election, the only way in which Kafka shortens a log: the follower is away while records are acknowledged by
 * the leader alone, then the leader dies and the follower comes back. It grows at once beyond what its readers have read.
 */
it('is another log when its leader has lost records that were read, also when it has grown past them', async () => {
  kafka = await startKafka({ nodes: 3 });
  const { brokers } = kafka;
  const config = kafkaTopicConfig(brokers);
  const settings = { ...CREATED_WITH, 'min.insync.replicas': '1', 'unclean.leader.election.enable': 'true' };
  await createTopic(brokers, config.name, settings, { replicaAssignment: [{ partition: 0, replicas: REPLICAS }] });
  const [writer, reader] = [await open(config), await open(config)];
  const sleeper = new Sleeper(config);
  const [leader, follower] = kafka.nodes as [KafkaNode, KafkaNode];
  await append(writer.topic, 'kept', 20);
  await follower.kill();
  await untilInSync(brokers, config.name, [REPLICAS[0]]);
  await append(writer.topic, 'lost', 10);
  for (const { listener } of [writer, reader])
    await listener.until('lost ones', () => has(listener, 'lost 9'), DEADLINE_MS);
  // One reader sleeps until the log has grown past what it has read; its end alone would tell it nothing.
  await sleeper.until(() => sleeper.keys.includes('lost 9'));
  sleeper.child.kill('SIGSTOP');
  await leader.kill();
  await follower.start();
  await append(writer.topic, 'new', 30);
  sleeper.child.kill('SIGCONT');
  await sleeper.until(() => sleeper.epochs.length === 2 && sleeper.keys.includes('new 29'));
  expect([...new Set(sleeper.keys)].filter((key) => key.startsWith('kept'))).toHaveLength(20);
  expect(sleeper.keys.filter((key) => key.startsWith('lost'))).toEqual([]);
  for (const { listener } of [writer, reader]) {
    await listener.until('the new log', () => has(listener, 'kept 0') && has(listener, 'new 29'), DEADLINE_MS);
    const values = listener.records.map(({ value }) => text(value));
    expect(values.filter((value) => value?.startsWith('lost'))).toEqual([]);
    expect(new Set(values).size).toBe(50);
    expect(listener.failures).toEqual([]);
  }
  // All who saw the epoch name it alike, and it goes on when the old leader is back and gives its end up.
  expect([reader.listener.epochs, sleeper.epochs]).toEqual([writer.listener.epochs, writer.listener.epochs]);
  expect(reader.listener.epochs).toHaveLength(2);
  await leader.start();
  await append(writer.topic, 'later', 5);
  await reader.listener.until('what came later', () => has(reader.listener, 'later 4'), DEADLINE_MS);
  expect(reader.listener.epochs).toHaveLength(2);
}, 300_000);

/** A reader in a process of its own, which can be stopped. */
class Sleeper {
  readonly child: ChildProcess;
  readonly epochs: string[] = [];
  /** Keys of the epoch that was told last. */
  keys: string[] = [];

  constructor(config: ReturnType<typeof kafkaTopicConfig>) {
    this.child = spawn(process.execPath, [READER, JSON.stringify(config)], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void this.child.kill('SIGKILL'));
    createInterface({ input: this.child.stdout as Readable }).on('line', (line) => this.#told(JSON.parse(line)));
  }

  async until(holds: () => boolean): Promise<void> {
    const givenUpAt = performance.now() + DEADLINE_MS;
    while (!holds()) {
      if (performance.now() > givenUpAt) throw new Error(`not seen: ${this.epochs} | ${this.keys}`);
      await sleep(50);
    }
  }

  #told({ epoch, keys = [] }: { epoch?: string; keys?: string[] }): void {
    if (epoch !== undefined) {
      this.epochs.push(epoch);
      this.keys = [];
    }
    this.keys.push(...keys);
  }
}

async function open(config: ReturnType<typeof kafkaTopicConfig>) {
  const topic = new KafkaReportTopic(config);
  opened.push(topic);
  const listener = new RecordingListener();
  await topic.open(listener);
  return { topic, listener };
}

/** One record after the other, each until it is acknowledged. */
async function append(topic: KafkaReportTopic, name: string, count: number): Promise<void> {
  const givenUpAt = performance.now() + DEADLINE_MS;
  for (let i = 0; i < count; ) {
    const value = `${name} ${i}`;
    const outcome = await settled(topic.append([{ partition: 0, key: value, value: Buffer.from(value) }]));
    if (outcome === 'done') i++;
    else if (performance.now() > givenUpAt) throw new Error(`appends still fail: ${outcome}`);
    else await sleep(100);
  }
}

function has(listener: RecordingListener, key: string): boolean {
  return listener.delivered.some((record) => record.key === key);
}

async function untilInSync(brokers: readonly string[], topic: string, wanted: readonly number[]): Promise<void> {
  const givenUpAt = performance.now() + DEADLINE_MS;
  for (;;) {
    const { topics } = await withAdmin(brokers.slice(0, 1), (admin) => admin.fetchTopicMetadata({ topics: [topic] }));
    const isr = topics[0]?.partitions[0]?.isr ?? [];
    if (String(isr) === String(wanted)) return;
    if (performance.now() > givenUpAt) throw new Error(`in sync are ${isr}, wanted ${wanted}`);
    await sleep(200);
  }
}
