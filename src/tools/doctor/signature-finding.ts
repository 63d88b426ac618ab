import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ReadRecord, RecordSignatures } from '../../base/ports/report-topic.js';
import type { HmacConfig, ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { kindOf } from '../../config/schema/topic-kinds.js';
import type { Finding } from '../../config/setting/topic-kind.js';
import { createTopic } from '../../node/loop/open-topics.js';
import { good, noted, skipped, wrong } from '../../topic/findings/finding.js';
import { withDeadline } from '../../topic/remote/deadline.js';

const ABOUT = 'signatures';

/** Reads Kafka's records: some may have a codec that this node lacks. */
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
  const { topic } = config;
  if (topic.kind === 'none' || topic.hmac === null) return [];
  const isReadByKind = kindOf(topic.kind).readNewest !== undefined;
  const { isWhole, signatures }: SignedRecords = isReadByKind
    ? await readByKind(config, topic.hmac, timeoutMs)
    : await readLog(config, timeoutMs);
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

/** Reads by the way of a kind whose log opening would change. */
async function readByKind({ topic, cluster }: ResolvedConfig, hmac: HmacConfig, timeoutMs: number) {
  const { RecordSignature } = await import('../../topic/signed/record-signature.js');
  const { SignatureBook } = await import('../../topic/signed/signature-book.js');
  const signature = new RecordSignature(hmac, { cluster, log: 'reports' });
  const telemetry = { log: () => undefined };
  const signatures = new SignatureBook({ name: 'topic', keyId: signature.keyId, mode: hmac.verify, telemetry });
  const ended = new AbortController();
  const isEnough = (record: ReadRecord) => {
    if (record.value) signatures.read(record, signature.verify(record, record.value));
    return sumOf(signatures.verified) > 0;
  };
  try {
    const read = kindOf(topic.kind).readNewest?.(topic, cluster, { isEnough, stopped: ended.signal });
    return { signatures, isWhole: await inTime(Promise.resolve(read), timeoutMs) };
  } finally {
    ended.abort();
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
