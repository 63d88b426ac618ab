import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ExaminedTopic, Finding, NewestReading, Visit } from '../../config/setting/topic-kind.js';
import { good, looked, wrong } from '../findings/finding.js';
import { reasonOf } from '../remote/topic-unusable.js';
import type { RedisTopicConfig } from './kind.js';
import { newestPages } from './log-reader.js';
import { redisUnusable } from './redis-failure.js';
import { redisTopicOptions } from './redis-topic-options.js';
import { TopicLink } from './topic-link.js';

export async function examineRedis(topic: RedisTopicConfig, { cluster, timeoutMs }: Visit): Promise<ExaminedTopic> {
  const findings = await looked('topic', timeoutMs, () => redisFinding(cluster, topic, timeoutMs));
  const isGood = findings.every(({ state }) => state === 'good');
  return { findings, isAnswered: isGood, hasReports: isGood };
}

/** Checks Redis as a node would: connects, authenticates, tries all it sends; opens no log. */
async function redisFinding(cluster: string, topic: RedisTopicConfig, timeoutMs: number): Promise<Finding> {
  const where = topic.addresses.join(', ');
  const connectionTimeoutMs = Math.min(topic.connectionTimeoutMs, timeoutMs);
  const options = redisTopicOptions(cluster, 'reports', { ...topic, connectionTimeoutMs }, {});
  const link = new TopicLink(options);
  link.ended.catch(() => undefined);
  try {
    await link.connect();
    return good('topic', `Redis at ${where} answers, is a master, and lets this user do all that a node does`);
  } catch (error) {
    const unreachable = { topic: options.topic, reason: `${where}: ${reasonOf(error)}` };
    const unusable = redisUnusable(error, options.topic);
    return wrong('topic', unusable ?? new QuotameshError('TOPIC_UNREACHABLE', unreachable));
  } finally {
    link.destroy(new Error('seen'));
  }
}

/** Reads newest records alone: opening a restarted Redis's log would begin another. */
export async function readNewestInRedis(
  topic: RedisTopicConfig,
  cluster: string,
  { isEnough, stopped }: NewestReading,
): Promise<void> {
  const options = redisTopicOptions(cluster, 'reports', topic, {});
  const link = new TopicLink(options);
  link.ended.catch(() => undefined);
  stopped.addEventListener('abort', () => link.destroy(new Error('late')), { once: true });
  try {
    await link.connect();
    for await (const page of newestPages(link, options, () => {})) {
      if (page.some(isEnough)) return;
    }
  } finally {
    link.destroy(new Error('seen'));
  }
}
