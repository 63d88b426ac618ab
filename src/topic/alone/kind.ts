import { topicKind } from '../../config/setting/topic-kind.js';
import { createMemoryLog } from '../memory/memory-log.js';
import { MemoryTopic } from '../memory/memory-topic.js';

/** No topic: the node has a log of its own, so that it works as with any other. */
export const NO_TOPIC = topicKind({
  says: 'nothing is shared',
  sharedBy: 'nobody',
  strictLacks: 'nodes that share nothing cannot know what others admit',
  settings: {
    nodeCount: {
      kind: 'count',
      default: null,
      defaultText: 'none: required with kind none',
      min: 1,
      max: 10_000,
      remedy: 'Say how many nodes share the quota, e.g. `nodeCount: 3`.',
      missedBy: 'nodes without a store',
      buys: 'No store at all: every node takes quota / nodeCount, whatever the others use. Hot, as groups are.',
      costs:
        'Nobody else may use the part that a node leaves, and the count must be right: raise it before a node comes.',
    },
  },
  constants: {},
  check: (_, mistakes) => mistakes.require('nodeCount', 'with kind none'),
  // Without a number there would have been a mistake.
  configOf: ({ nodeCount }) => ({ nodeCount: nodeCount! }),
  open: async (_, { log }) => (log === 'reports' ? new MemoryTopic(createMemoryLog(), ALONE) : null),
  examine: async ({ nodeCount }) => {
    const { noted } = await import('../findings/finding.js');
    const says = `none: each of ${nodeCount} nodes takes its part of every quota, used or not`;
    return { findings: [noted('topic', says)], isAnswered: true, hasReports: false };
  },
});

const ALONE = { appendTimeoutMs: 5000 };
