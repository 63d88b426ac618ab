import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { RecordSignatures } from '../../base/ports/report-topic.js';
import type { HmacConfig, ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { createTopic } from '../../node/loop/open-topics.js';
import { ENTRIES_PER_ANSWER } from '../../topic/answers/redis-answer-bounds.js';
import type { RedisTopicConfig } from '../../topic/redis/kind.js';
import { withDeadline } from '../../topic/remote/deadline.js';
import { type Finding, good, noted, skipped, wrong } from './finding.js';

const ABOUT = 'signatures';

/** Reads Kafka's records, of which some may have a codec that this node lacks. */
export async function recordsFinding(config: ResolvedConfig, timeoutMs: number): Promise<Finding> {
  const { isWhole } = await readLog(config, timeoutMs);
  return isWhole
    ? good('records', 'all that the topic holds can be read')
    : skipped('records', `not read to the end in ${timeoutMs} ms; nothing is wrong so far`);
}

/**
 * Looks for the first record signed with a key of this configuration. *Why:* a node whose key nobody has never gets
 * ready, or takes a whole quota. The log must exist: opening would make it.
 */
export async function signatureFindings(config: ResolvedConfig, timeoutMs: number): Promise<readonly Finding[]> {
  const { topic, cluster } = config;
  if (topic.kind === 'none' || topic.kind === 'memory' || topic.hmac === null) return [];
  const { isWhole, signatures } =
    topic.kind === 'redis' ? await readRedis(cluster, topic, topic.hmac, timeoutMs) : await readLog(config, timeoutMs);
  const { keyId, verified, unverified, mode } = signatures;
  const others = sumOf(unverified);
  if (sumOf(verified) > 0) {
    return [good(ABOUT, `records of the topic are signed with a key of this node (id ${keyId})`)];
  }
  if (!isWhole) {
    const found = `${others} records so far, none with a key of this node`;
    return [skipped(ABOUT, `not read to the end in ${timeoutMs} ms; ${found}`)];
  }
  if (others === 0) return [skipped(ABOUT, 'not compared: nobody has written a record yet')];
  const causes = Object.entries(unverified).filter(([, count]) => count > 0);
  const reason = causes.map(([cause, count]) => `${count} ${cause}`).join(', ');
  const error = new QuotameshError('TOPIC_KEY_DIFFERS', { keyId, reason });
  return [mode === 'require' ? wrong(ABOUT, error) : noted(ABOUT, error)];
}

interface SignedRecords {
  readonly signatures: Pick<RecordSignatures, 'keyId' | 'mode' | 'verified' | 'unverified'>;
  /** False = time ran out first. */
  readonly isWhole: boolean;
}

async function readLog(config: ResolvedConfig, timeoutMs: number): Promise<SignedRecords> {
  const topic = await createTopic(config, { log: () => undefined });
  const signatures = topic.signatures as RecordSignatures;
  const read = new Promise<void>((resolve, reject) => {
    const found = () => sumOf(signatures?.verified ?? {}) > 0 && resolve();
    topic
      .open({
        onEpoch: () => undefined,
        onRecords: found,
        onCaughtUp: resolve,
        onLost: () => undefined,
        onRecovered: () => undefined,
        onFailed: reject,
      })
      .catch(reject);
  });
  try {
    return { signatures, isWhole: await inTime(read, timeoutMs) };
  } finally {
    await topic.close();
  }
}

/** Reads newest records alone: opening a restarted Redis's log would begin another. */
async function readRedis(
  cluster: string,
  topic: RedisTopicConfig,
  hmac: HmacConfig,
  timeoutMs: number,
): Promise<SignedRecords> {
  const { TopicLink } = await import('../../topic/redis/topic-link.js');
  const { redisTopicOptions } = await import('../../topic/redis/redis-topic-options.js');
  const { readNewest } = await import('../../topic/redis/redis-entry.js');
  const { RecordSignature } = await import('../../topic/signed/record-signature.js');
  const { SignatureBook } = await import('../../topic/signed/signature-book.js');
  const options = redisTopicOptions(cluster, 'reports', topic, {});
  const signature = new RecordSignature(hmac, { cluster, log: 'reports' });
  const telemetry = { log: () => undefined };
  const signatures = new SignatureBook({ name: 'topic', keyId: signature.keyId, mode: hmac.verify, telemetry });
  const link = new TopicLink(options);
  link.ended.catch(() => undefined);
  const read = async () => {
    await link.connect();
    let cursor = '0';
    do {
      const found = await link.read('HSCAN', [options.keys.newest, cursor, 'COUNT', ENTRIES_PER_ANSWER]);
      const [next, fields] = found as readonly [Buffer, readonly Buffer[]];
      for (let at = 0; at + 1 < fields.length; at += 2) {
        const record = readNewest(fields[at], fields[at + 1]);
        if (record?.value) signatures.read(record, signature.verify(record, record.value));
      }
      cursor = String(next);
    } while (cursor !== '0' && sumOf(signatures.verified) === 0);
  };
  try {
    return { signatures, isWhole: await inTime(read(), timeoutMs) };
  } finally {
    link.destroy(new Error('seen'));
  }
}

/** Tests if work ended in time; other failures are findings. */
function inTime(work: Promise<void>, timeoutMs: number): Promise<boolean> {
  const late = new Error('late');
  return withDeadline(work, timeoutMs, () => late).then(
    () => true,
    (error: unknown) => {
      if (error === late) return false;
      throw error;
    },
  );
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0);
}
