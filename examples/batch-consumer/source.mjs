// Where the lines come from: a file, of which each consumer reads every third line, or a Kafka topic, of which the consumer
// group gives each its partition: there must be as many as consumers. `read(n)` gives up to n lines that are there now,
// and takes them for done.
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';

/** @param where a file, or `kafka:host:port/topic/consumer-group` */
export async function openSource(where, number, count) {
  const [, broker, topic, groupId] = /^kafka:(.+)\/(.+)\/(.+)$/.exec(where) ?? [];
  return broker === undefined ? openFile(where, number, count) : openKafka(broker, topic, groupId);
}

async function openFile(file, number, count) {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((_, at) => at % count === number);
  return { read: (most) => lines.splice(0, most), close: async () => {} };
}

async function openKafka(broker, topic, groupId) {
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.ERROR });
  const consumer = kafka.consumer({ groupId });
  let pending = [];
  let taken = null;
  let isClosed = false;
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  // The group shares the partitions anew with each consumer that comes: all are there when this one is left with one.
  const joined = new Promise((resolve) => {
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      if (payload.memberAssignment[topic]?.length === 1) resolve();
    });
  });
  await consumer.run({
    eachBatchAutoResolve: false,
    eachBatch: async ({ batch, resolveOffset, heartbeat, isRunning, isStale }) => {
      [pending, taken] = [[...batch.messages], null];
      while (pending.length > 0 && !isClosed && isRunning() && !isStale()) {
        await sleep(5);
        await heartbeat();
        // What has not been read stays for whoever gets the partition next.
        if (taken !== null) resolveOffset(taken);
      }
      pending = [];
    },
  });
  await joined;
  const read = (most) => {
    const lines = pending.splice(0, most);
    taken = lines.at(-1)?.offset ?? taken;
    return lines.map(({ value }) => value?.toString() ?? '');
  };
  const close = async () => {
    isClosed = true;
    await consumer.disconnect();
  };
  return { read, close };
}
