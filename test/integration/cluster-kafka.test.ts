import { clusterPromises } from '../cluster/promises.js';
import { sharedKafka } from '../kafka/shared-kafka.js';
import { someOf } from '../property/seed.js';

/** One of the two is drawn: each takes 11 s of CPU, and test/long/cluster.test.ts plays both. */
for (const part of someOf(['awake', 'asleep'] as const)) {
  const topicOf = async () => ({ kind: 'kafka', brokers: await sharedKafka(), name: `cluster-${part}-${process.pid}` });
  clusterPromises('kafka', topicOf, part);
}
