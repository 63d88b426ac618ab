import { poolsPromises } from '../cluster/pools-promises.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

let topics = 0;

poolsPromises('kafka', async () => {
  return { kind: 'kafka', brokers: await sharedKafka(), name: `pools-${process.pid}-${topics++}` };
});
