import { clusterPromises } from '../cluster/promises.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

clusterPromises('embedded', async () => 'embedded', 'all');

clusterPromises(
  'kafka',
  async () => ({ kind: 'kafka', brokers: await sharedKafka(), name: `cluster-long-${process.pid}` }),
  'all',
);
