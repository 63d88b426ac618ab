import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { type BrokerAddress, type BrokerLink, nameOf } from '../../topic/kafka/broker-link.js';
import { fetchTopicMetadata } from '../../topic/kafka/topic-metadata.js';
import { type Finding, good, noted, skipped } from './finding.js';
import type { KafkaVisit } from './kafka-visit.js';

const ABOUT = 'clocks';
/** Milliseconds between a good clock and a slow answer. */
const AHEAD_MS = 2000;
/** Milliseconds; nodes write once a second. */
const RECENT_MS = 5000;
const PARTITION = 0;

export async function clockFinding(visit: KafkaVisit, address: BrokerAddress, topic: string): Promise<Finding> {
  const { exists, leaders } = await fetchTopicMetadata(visit.kafkajs, await visit.open(address), topic);
  const leader = leaders[PARTITION] ?? null;
  if (!exists || leader === null)
    return skipped(ABOUT, 'not compared: Kafka tells its time by records, and there are none');
  const link = await visit.open(leader);
  const nowMs = Date.now();
  const broker = nameOf(leader);
  const aheadMs = await stampSince(link, topic, nowMs + AHEAD_MS);
  if (aheadMs !== null) {
    return noted(ABOUT, new QuotameshError('CLOCK_BEHIND', { behindMs: Math.round(aheadMs - nowMs), broker }));
  }
  if ((await stampSince(link, topic, nowMs - RECENT_MS)) === null) {
    const why = `nobody has written to ${topic} in the last ${RECENT_MS / 1000} s by the clock of this machine`;
    return skipped(ABOUT, `not compared: ${why}, and Kafka tells its time by records`);
  }
  return good(ABOUT, `this machine and broker ${broker} agree to within ${RECENT_MS / 1000} s`);
}

/** Returns the first record's stamp since then; null = none. */
async function stampSince(link: BrokerLink, topic: string, sinceMs: number): Promise<number | null> {
  const topics = [{ topic, partitions: [{ partition: PARTITION, timestamp: sinceMs }] }];
  const answer = await link.send<StampsAnswer>('ListOffsets', { isolationLevel: 0, topics });
  const stamp = Number(answer.responses[0]?.partitions[0]?.timestamp ?? NONE);
  return stamp === NONE ? null : stamp;
}

const NONE = -1;

interface StampsAnswer {
  readonly responses: readonly { readonly partitions: readonly { readonly timestamp?: string }[] }[];
}
