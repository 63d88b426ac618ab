import { clusterPromises } from '../cluster/promises.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

const topicOf = async () => ({ kind: 'kafka', brokers: await sharedKafka(), name: `cluster-asleep-${process.pid}` });

clusterPromises('kafka', topicOf, 'asleep');
