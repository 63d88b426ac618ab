import { silentTelemetry } from '../../src/ports/telemetry.js';
import { createMemoryLog } from '../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../src/topic/memory/memory-topic.js';
import { SignedTopic } from '../../src/topic/signed/signed-topic.js';
import { reportTopicConformance } from './report-topic.js';

const appendTimeoutMs = 200;
const hmac = { key: 'k'.repeat(32), nextKey: null, previousKey: null, verify: 'require' } as const;

/** A signed topic keeps every promise of the port; `heals` is the registry's. */
for (const heals of [false, true]) {
  reportTopicConformance(
    `memory, signed, ${heals ? 'registry' : 'reports'}`,
    async () => {
      const log = createMemoryLog({ partitions: 2 });
      const options = { cluster: 'c', log: 'reports', name: 'topic', heals, hmac, telemetry: silentTelemetry };
      return {
        makeTopic: () => new SignedTopic(new MemoryTopic(log, { appendTimeoutMs }), options),
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
