import { MemoryTopic } from '../../src/topic/memory/memory-topic.js';
import { memoryWorld } from './memory-world.js';
import { reportTopicConformance } from './report-topic.js';

const appendTimeoutMs = 200;

for (const partitions of [1, 4]) {
  reportTopicConformance(
    `memory, ${partitions} partition(s)`,
    async () => memoryWorld(partitions, (log) => new MemoryTopic(log, { appendTimeoutMs })),
    { appendTimeoutMs },
  );
}
