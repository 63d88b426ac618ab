import { silentTelemetry } from '../../src/base/ports/telemetry.js';
import { MemoryTopic } from '../../src/topic/memory/memory-topic.js';
import { SignedTopic } from '../../src/topic/signed/signed-topic.js';
import { memoryWorld } from './memory-world.js';
import { reportTopicConformance } from './report-topic.js';

const appendTimeoutMs = 200;
const hmac = { key: 'k'.repeat(32), nextKey: null, previousKey: null, verify: 'require' } as const;

/** A signed topic keeps every promise of the port; `isShared` is the registry's. */
for (const isRegistry of [false, true]) {
  reportTopicConformance(
    `memory, signed, ${isRegistry ? 'registry' : 'reports'}`,
    async () =>
      memoryWorld(2, (log) => {
        const isShared = () => isRegistry;
        const options = { cluster: 'c', log: 'reports', name: 'topic', isShared, hmac, telemetry: silentTelemetry };
        return new SignedTopic(new MemoryTopic(log, { appendTimeoutMs }), options);
      }),
    { appendTimeoutMs },
  );
}
