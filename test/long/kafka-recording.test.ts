import { recordingPromises } from '../cluster/recording-promises.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

recordingPromises('kafka', async () => ({
  kind: 'kafka',
  brokers: await sharedKafka(),
  name: `recording-${process.pid}`,
}));
