import type { AppendRecord } from '../../base/ports/report-topic.js';
import { RemoteReportTopic } from '../remote/remote-report-topic.js';
import type { RedisTopicConfig } from './kind.js';
import { type RedisTopicHooks, redisTopicOptions } from './redis-topic-options.js';
import { RedisSupervisor } from './topic-supervisor.js';

/** Name of one log; a server may hold two of each of many clusters. */
interface RedisLogName {
  readonly cluster: string;
  readonly log: 'reports' | 'registry';
}

/**
 * Keeps reports in Redis: a stream in order, and a hash of the newest per key (scripts.ts has the keys).
 *
 *     TopicSupervisor                        keeps a TopicLink to the master, and begins again when it ends
 *        └─ TopicLink                        two connections of ioredis that die with their first error
 *             ├─ LogReader                   the newest per key, then the stream
 *             ├─ LogWriter                   appends what waits in the Outbox
 *             └─ restoreLog, LogMemory       what Redis forgets (FLUSHALL, failover), the nodes put back
 */
export class RedisReportTopic extends RemoteReportTopic {
  constructor({ cluster, log }: RedisLogName, config: RedisTopicConfig, hooks: RedisTopicHooks = {}) {
    const options = redisTopicOptions(cluster, log, config, hooks);
    super({
      store: 'Redis',
      topic: options.topic,
      appendTimeoutMs: config.appendTimeoutMs,
      log: hooks.log ?? (() => {}),
      supervise: (parts) => new RedisSupervisor({ options, ...parts }),
    });
  }

  override get partitions(): number {
    return 1;
  }

  /** Appends copies: buffers may be reused, and repeated records must be the same. */
  override append(records: readonly AppendRecord[]): Promise<void> {
    return super.append(records.map((record) => ({ ...record, value: record.value && Uint8Array.from(record.value) })));
  }
}
