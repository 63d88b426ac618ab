import { createMemoryLog } from '../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../src/topic/memory/memory-topic.js';
import { reportTopicConformance } from './report-topic.js';

const appendTimeoutMs = 200;

for (const partitions of [1, 4]) {
  reportTopicConformance(
    `memory, ${partitions} partition(s)`,
    async () => {
      const log = createMemoryLog({ partitions });
      return {
        makeTopic: () => new MemoryTopic(log, { appendTimeoutMs }),
        compact: async () => log.compact(),
        breakTopic: async () => log.pauseAppends(),
        healTopic: async () => log.resumeAppends(),
        makeAnew: async () => log.makeAnew(),
        truncate: async (offset, regrow) => {
          log.truncate((partition, endOffset) => (partition === 0 ? offset : endOffset));
          await regrow();
        },
        dispose: async () => {},
      };
    },
    { appendTimeoutMs },
  );
}
