import { clusterPromises } from '../cluster/promises.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

clusterPromises('embedded', async () => 'embedded', 'long');

clusterPromises(
  'kafka',
  async () => ({ kind: 'kafka', brokers: await sharedKafka(), name: `cluster-long-${process.pid}` }),
  'long',
);
