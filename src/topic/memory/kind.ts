import { topicKind } from '../../config/setting/topic-kind.js';
import { createMemoryLog, type MemoryLog } from './memory-log.js';
import { MemoryTopic } from './memory-topic.js';

export const MEMORY_TOPIC = topicKind({
  says: 'one process, for tests',
  sharedBy: 'process',
  strictLacks: null,
  settings: {},
  /** Patience with a slow topic: a lost report is repaired later. One append per partition waits at a time. */
  constants: { appendTimeoutMs: 5000 },
  configOf: () => ({}),
  open: async (config, { cluster, log }) => {
    return new MemoryTopic(memoryLogOf(log === 'reports' ? cluster : `${cluster}/${log}`), config);
  },
  examine: async () => {
    const { noted } = await import('../findings/finding.js');
    const says = 'in the memory of one process: nodes of other processes are not seen';
    return { findings: [noted('topic', says)], isAnswered: true, hasReports: false };
  },
});

/** Cluster → log: nodes of one process share it, as processes of a machine share a folder. */
const memoryLogs = new Map<string, MemoryLog>();

function memoryLogOf(cluster: string): MemoryLog {
  const known = memoryLogs.get(cluster);
  if (known !== undefined) return known;
  const log = createMemoryLog();
  memoryLogs.set(cluster, log);
  return log;
}
