import { setTimeout as sleep } from 'node:timers/promises';
import type { TopicLog } from '../remote/topic-log.js';
import type { LogMemory } from './log-memory.js';
import { scanNewest } from './log-reader.js';
import { restorable } from './redis-entry.js';
import type { RedisTopicOptions } from './redis-topic-options.js';
import type { TopicLink } from './topic-link.js';

/** Most milliseconds of a node's random wait before it restores; well below newcomers' settleMs. */
const SPREAD_MS = 300;
const RECORDS_PER_CALL = 500;

/**
 * Puts back what Redis has forgotten; the first node does, others find it done. Returns true if the log has records
 * below `readOffset` that this node never read: another log. Rejects where the link ends or Redis refuses.
 */
export async function restoreLog(
  link: TopicLink,
  options: RedisTopicOptions,
  memory: LogMemory,
  epoch: string,
  readOffset: number,
  log: TopicLog,
): Promise<boolean> {
  await sleep(SPREAD_MS * Math.random(), undefined, { ref: false });
  const found = await scanNewest(link, options, () => {});
  const offsets = new Map([...found].map(([key, { offset }]) => [key, offset]));
  const isAnother = memory.lacks(offsets, readOffset);
  const missing = memory.missing(offsets);
  let restored = 0;
  for (let i = 0; i < missing.length; i += RECORDS_PER_CALL) {
    const records = missing.slice(i, i + RECORDS_PER_CALL);
    const args = records.flatMap((record) => [record.key, String(record.offset), restorable(record)]);
    restored += await link.restore([epoch, ...args]);
  }
  const facts = { topic: options.topic, restored, lacking: missing.length };
  log('warn', 'Redis had lost records: this node has put back what it knew', facts);
  return isAnother;
}
