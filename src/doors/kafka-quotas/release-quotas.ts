import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ReadRecord, ReportTopic } from '../../base/ports/report-topic.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { entityText, limitKeyOf } from '../../core/beside/kafka-quotas/entity.js';
import {
  type Claim,
  type LimitRecord,
  limitRecordKey,
  WRITER_KEY,
} from '../../core/beside/kafka-quotas/keeper-record.js';
import { type Release, releasePlan } from '../../core/beside/kafka-quotas/release-plan.js';
import { changesOf, describedQuotas } from './entity-parts.js';
import { decodeKeeperRecord, encodeKeeperRecord } from './keeper-record-codec.js';
import type { QuotaAdmin } from './quota-keeper.js';

interface ReleaseParts {
  readonly config: ResolvedConfig;
  readonly topic: ReportTopic;
  readonly admin: QuotaAdmin;
  readonly tell: (line: string) => void;
  readonly timeoutMs?: number;
}

/** Puts back the values before quotamesh. Throws KAFKA_QUOTAS_KEPT while a keeper lives. */
export async function releaseQuotas({ config, topic, admin, tell, timeoutMs = 30_000 }: ReleaseParts): Promise<void> {
  const log = new ReleaseLog(config.cluster);
  try {
    await log.open(topic, timeoutMs);
    // A live keeper publishes within that time.
    await sleep(config.kafkaQuotas.aliveMs);
    const keepers = [...log.alive].sort();
    if (keepers.length > 0) throw new QuotameshError('KAFKA_QUOTAS_KEPT', { keepers: keepers.join(', ') });
    // From here on a keeper that stood still finds that it no longer writes.
    const claim = { kind: 'writer', term: log.term + 1, id: 'release', life: 'release' } as const;
    await topic.append([{ partition: 0, key: WRITER_KEY, value: encodeKeeperRecord(config.cluster, claim) }]);
    const releases = await putBack([...log.limits.values()], admin);
    const tombstones = releases.map(({ record: { entity, name } }) => {
      return { partition: 0, key: limitRecordKey(limitKeyOf(entity, name)), value: null };
    });
    if (tombstones.length > 0) await topic.append(tombstones);
    for (const release of releases) tell(lineOf(release));
    if (releases.length === 0) tell('nothing to put back: quotamesh has written no quota');
  } finally {
    await Promise.all([topic.close(), admin.close()]);
  }
}

/** Puts values back; a failure leaves the rest to the next release. */
async function putBack(records: readonly LimitRecord[], admin: QuotaAdmin): Promise<readonly Release[]> {
  try {
    const releases = releasePlan(records, describedQuotas(await admin.describe()));
    const alterations = releases.flatMap(({ alteration }) => alteration ?? []);
    const [refused] = alterations.length === 0 ? [] : await admin.alter(changesOf(alterations), () => true);
    if (refused !== undefined) throw new Error(refused.reason);
    return releases;
  } catch (error) {
    throw new QuotameshError('KAFKA_QUOTAS_REFUSED', { reason: messageOf(error) }, { cause: error });
  }
}

function lineOf({ record: { entity, name, original }, found, alteration }: Release): string {
  const whose = `${entityText(entity)}: ${name}`;
  if (alteration !== null)
    return `${whose} ${found} → ${original === null ? 'removed' : `${original}, as it was before`}`;
  return found === null ? `${whose} is not there any more` : `${whose} ${found} stays: somebody else has written it`;
}

/** Reads the keepers' log, and who is alive in it. */
class ReleaseLog {
  readonly limits = new Map<string, LimitRecord>();
  readonly alive = new Set<string>();
  readonly #cluster: string;
  #claim: Claim | null = null;
  #isCaughtUp = false;

  constructor(cluster: string) {
    this.#cluster = cluster;
  }

  get term(): number {
    return this.#claim?.term ?? 0;
  }

  async open(topic: ReportTopic, timeoutMs: number): Promise<void> {
    let reason = `not read within ${timeoutMs} ms`;
    await new Promise<void>((resolve, reject) => {
      const giveUp = () =>
        reject(new QuotameshError('KAFKA_QUOTAS_REFUSED', { reason: `the topic of the keepers: ${reason}` }));
      const timer = setTimeout(giveUp, timeoutMs);
      const opened = topic.open({
        onEpoch: () => {
          this.limits.clear();
          this.#isCaughtUp = false;
        },
        onRecords: (records) => this.#read(records),
        onCaughtUp: () => {
          this.#isCaughtUp = true;
          clearTimeout(timer);
          resolve();
        },
        onLost: (why) => {
          reason = why;
        },
        onRecovered: () => {},
        onFailed: reject,
      });
      opened.catch(reject);
    });
  }

  #read(records: readonly ReadRecord[]): void {
    for (const { key, value } of records) {
      const record = value === null ? null : decodeKeeperRecord(this.#cluster, value);
      if (record?.kind === 'limit') this.limits.set(key, record);
      else if (record?.kind === 'writer' && record.term > this.term) this.#claim = record;
      else if (record?.kind === 'keeper' && this.#isCaughtUp) {
        if (record.isLeaving) this.alive.delete(record.id);
        else this.alive.add(record.id);
      } else if (value === null) this.limits.delete(key);
    }
  }
}
