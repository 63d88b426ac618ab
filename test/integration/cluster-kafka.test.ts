import { clusterPromises } from '../cluster/promises.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

clusterPromises('kafka', async () => ({ kind: 'kafka', brokers: await sharedKafka(), name: `cluster-${process.pid}` }));
