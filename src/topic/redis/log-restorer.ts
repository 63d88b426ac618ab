import { setTimeout as sleep } from 'node:timers/promises';
import type { TopicLog } from '../remote/topic-log.js';
import type { LogMemory } from './log-memory.js';
import { scanNewest } from './log-reader.js';
import { restorable } from './redis-entry.js';
import { isAnswer } from './redis-failure.js';
import type { RedisTopicOptions } from './redis-topic-options.js';
import type { TopicLink } from './topic-link.js';

/**
 * Nodes wait up to so long, each another time, so that few of them send the same. It is well below settleMs, for which
 * newcomers wait.
 */
const SPREAD_MS = 300;
const RECORDS_PER_CALL = 500;

/**
 * Puts back what Redis has forgotten and this node still knows. The first node does it, and the others find it done.
 * Returns true if the log is another one, which holds records below `readOffset` that this node has never read.
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
  try {
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
    log('warn', 'Redis had lost records: this node has put back what it knew', {
      topic: options.topic,
      restored,
      lacking: missing.length,
    });
    return isAnother;
  } catch (error) {
    // The end of the link is told by its owner. A log that was emptied once more is restored once more.
    if (isAnswer(error)) log('debug', 'Redis refused to take records back', { reason: (error as Error).message });
    return false;
  }
}
