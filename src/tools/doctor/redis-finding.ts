import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { RedisTopicConfig } from '../../topic/redis/kind.js';
import { reasonOf } from '../../topic/remote/topic-unusable.js';
import { type Finding, good, wrong } from './finding.js';

/** Checks Redis as a node would: connects, authenticates, loads scripts; opens no log. */
export async function redisFinding(cluster: string, topic: RedisTopicConfig, timeoutMs: number): Promise<Finding> {
  const { TopicLink } = await import('../../topic/redis/topic-link.js');
  const { redisTopicOptions } = await import('../../topic/redis/redis-topic-options.js');
  const { redisUnusable } = await import('../../topic/redis/redis-failure.js');
  const connectionTimeoutMs = Math.min(topic.connectionTimeoutMs, timeoutMs);
  const options = redisTopicOptions(cluster, 'reports', { ...topic, connectionTimeoutMs }, {});
  const link = new TopicLink(options);
  link.ended.catch(() => undefined);
  try {
    await link.connect();
    return good('topic', `Redis at ${topic.addresses.join(', ')} answers, is a master, and takes our scripts`);
  } catch (error) {
    const reason = `${topic.addresses.join(', ')}: ${reasonOf(error)}`;
    return wrong(
      'topic',
      redisUnusable(error, options.topic) ?? new QuotameshError('TOPIC_UNREACHABLE', { topic: options.topic, reason }),
    );
  } finally {
    link.destroy(new Error('seen'));
  }
}
