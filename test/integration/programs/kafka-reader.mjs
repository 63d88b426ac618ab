/**
 * Reads a topic of Kafka and tells what it is given, a line of JSON each: `{ epoch }`, `{ keys }`, `{ caughtUp }`.
 *
 *     argv: the adapter's configuration as JSON
 */
import { KafkaReportTopic } from '../../../dist/src/topic/kafka/kafka-report-topic.js';

const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const topic = new KafkaReportTopic(JSON.parse(process.argv[2]));
await topic.open({
  onEpoch: (epoch) => tell({ epoch }),
  onRecords: (records) => tell({ keys: records.map(({ key }) => key) }),
  onCaughtUp: () => tell({ caughtUp: true }),
  onLost: () => {},
  onRecovered: () => {},
  onFailed: (error) => tell({ failed: error.message }),
});
