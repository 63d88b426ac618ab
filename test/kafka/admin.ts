import { setTimeout as sleep } from 'node:timers/promises';
import { type Admin, type ITopicConfig, Kafka, logLevel } from 'kafkajs';
import { CREATED_WITH } from '../../src/topic/kafka/topic-settings.js';

/** kafkajs's own admin client, silent, for what a test does to a broker behind the adapter's back. */
export function adminOf(brokers: readonly string[], options: { readonly retries?: number } = {}): Admin {
  // NODE_ENV=test would otherwise change the retry defaults.
  const retry = {
    retries: options.retries ?? 5,
    initialRetryTime: 100,
    maxRetryTime: 1000,
    multiplier: 2,
    factor: 0.2,
  };
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId: 'quotamesh-test',
    logLevel: logLevel.NOTHING,
    requestTimeout: 10_000,
    retry,
  });
  return kafka.admin();
}

export async function withAdmin<T>(brokers: readonly string[], action: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = adminOf(brokers);
  await admin.connect();
  try {
    return await action(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Creates a topic as a person might have: `settings` are its only overrides. */
export function createTopic(
  brokers: readonly string[],
  topic: string,
  settings: Readonly<Record<string, string>>,
  shape: Pick<ITopicConfig, 'numPartitions' | 'replicationFactor' | 'replicaAssignment'> = { numPartitions: 1 },
): Promise<void> {
  const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
  return withAdmin(brokers, async (admin) => {
    await admin.createTopics({ topics: [{ topic, ...shape, configEntries }], waitForLeaders: false });
    // kafkajs's own wait gives up when the broker does not know the topic yet.
    const deadlineMs = performance.now() + LEADERS_DEADLINE_MS;
    while (!(await hasLeaders(admin, topic)) && performance.now() < deadlineMs) await sleep(50);
  });
}

/** A broker may not know yet what another one has created. */
export async function untilAllKnow(brokers: readonly string[], topic: string): Promise<void> {
  const deadlineMs = performance.now() + LEADERS_DEADLINE_MS;
  for (const broker of brokers) {
    await withAdmin([broker], async (admin) => {
      while (!(await hasLeaders(admin, topic)) && performance.now() < deadlineMs) await sleep(50);
    });
  }
}

/** Deletes the topic and creates it again at once, as the adapter would have: another topic of the same name. */
export async function makeTopicAnew(brokers: readonly string[], topic: string, partitions: number): Promise<void> {
  await withAdmin(brokers, (admin) => admin.deleteTopics({ topics: [topic], timeout: LEADERS_DEADLINE_MS }));
  await createTopic(brokers, topic, CREATED_WITH, { numPartitions: partitions });
}

const LEADERS_DEADLINE_MS = 20_000;

async function hasLeaders(admin: Admin, topic: string): Promise<boolean> {
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics.every(({ partitions }) => partitions.length > 0 && partitions.every(({ leader }) => leader >= 0));
  } catch {
    return false;
  }
}
