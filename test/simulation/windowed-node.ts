import { resolveConfig } from '../../src/config/read/resolve-config.js';
import { BYTES } from '../../src/core/base/vocabulary.js';
import { createMemoryLog } from '../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../src/topic/memory/memory-topic.js';
import { WholeNode } from '../whole-node.js';

const NONE = Infinity;

/** A node that is never started: its one group has windows, confirmed for ever, whose limit the test sets. */
export function windowedNode(windowMs: number, clock: () => number, limits: { maxWaiting?: number } = {}): WholeNode {
  const groups = { a: { limiter: 'window', windowMs, maxRequest: { messages: 1e6 } } };
  const config = resolveConfig({ cluster: 'c', node: 'n', topic: 'memory', groups, limits }, { source: '(test)' });
  const topic = new MemoryTopic(createMemoryLog());
  const node = new WholeNode({ config, topic, telemetry: { log: () => {} }, version: '0', nonce: 1, clock });
  node.limiter.buckets.setWindow(0, windowMs, clock());
  node.limiter.setLimit(0, BYTES, NONE, NONE, clock());
  node.limiter.validUntilMs.set(0, NONE);
  return node;
}
