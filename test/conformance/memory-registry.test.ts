import { MemoryTopic } from '../../src/topic/memory/memory-topic.js';
import { partOf, someOf } from '../property/seed.js';
import { GivenOffsets, likeRedis } from './given-offsets.js';
import { memoryWorld } from './memory-world.js';
import { registryConformance } from './registry.js';

const CHANGES = partOf(3000);

/** From the offset of a log in memory to that of another store. */
const OFFSETS: Readonly<Record<string, (offset: number) => number>> = {
  memory: (offset) => offset,
  // Brokers write records of their own between those of the nodes.
  'like Kafka': (offset) => offset + Math.floor(offset / 100),
  'like Redis': likeRedis,
};

for (const name of ['memory', ...someOf(['like Kafka', 'like Redis'])]) {
  const makeWorld = async () => memoryWorld(1, (log) => new GivenOffsets(new MemoryTopic(log), OFFSETS[name]));
  registryConformance(name, makeWorld, name === 'memory' ? undefined : CHANGES);
}
