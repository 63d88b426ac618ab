import type { ReportTopic } from '../../src/base/ports/report-topic.js';
import { createMemoryLog, type MemoryLog } from '../../src/topic/memory/memory-log.js';
import type { TopicWorld } from './topic-scene.js';

/** A log in memory, and topics on it. */
export function memoryWorld(partitions: number, makeTopic: (log: MemoryLog) => ReportTopic): TopicWorld {
  const log = createMemoryLog({ partitions });
  return {
    makeTopic: () => makeTopic(log),
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
}
