import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { kafkaTopicConfig } from './kafka-topic-config.js';
import { sharedKafka } from './shared-kafka.js';

it('probe', async () => {
  const brokers = await sharedKafka();
  for (const partitions of [1, 4]) {
    const config = kafkaTopicConfig(brokers, { partitions });
    const t0 = performance.now();
    const topic = new KafkaReportTopic(config);
    const listener = new RecordingListener();
    await topic.open(listener);
    const t1 = performance.now();
    await listener.until('x', () => listener.caughtUpAfter.length > 0, 5000);
    console.log(partitions, 'open (create)', t1 - t0, 'caught up', performance.now() - t1);
    const second = new KafkaReportTopic(config);
    const l2 = new RecordingListener();
    const t2 = performance.now();
    await second.open(l2);
    await l2.until('x', () => l2.caughtUpAfter.length > 0, 5000);
    console.log('open existing + caught up', performance.now() - t2);
    await second.close();
    for (const spacing of [20, 5]) {
      const acks: number[] = [];
      const reads: number[] = [];
      for (let i = 0; i < 300; i++) {
        const s = performance.now();
        const key = `k${spacing}-${i}`;
        const value = Buffer.alloc(200);
        const acked = topic
          .append([{ partition: i % partitions, key, value }])
          .then(() => acks.push(performance.now() - s));
        const read = (async () => {
          while (!listener.has(key))
            await new Promise((r) => listener.until('r', () => listener.has(key), 5000).then(r));
          reads.push(performance.now() - s);
        })();
        await Promise.all([acked, read]);
        await sleep(spacing);
      }
      const q = (a: number[], p: number) => a.sort((x, y) => x - y)[Math.floor(a.length * p)].toFixed(2);
      console.log(
        spacing,
        'ack p50',
        q(acks, 0.5),
        'p99',
        q(acks, 0.99),
        'read p50',
        q(reads, 0.5),
        'p90',
        q(reads, 0.9),
        'p99',
        q(reads, 0.99),
        'max',
        q(reads, 0.9999),
      );
    }
    const c = process.cpuUsage();
    const w = performance.now();
    await sleep(3000);
    const d = process.cpuUsage(c);
    console.log('idle cpu %', ((d.user + d.system) / 10 / (performance.now() - w)).toFixed(3));
    await topic.close();
  }
  const c = process.cpuUsage();
  const w = performance.now();
  await sleep(5000);
  const d = process.cpuUsage(c);
  console.log('closed: idle cpu %', ((d.user + d.system) / 10 / (performance.now() - w)).toFixed(3));
}, 120000);
