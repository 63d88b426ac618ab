import type { ReportTopic } from '../../base/ports/report-topic.js';
import type { SignatureStatus } from '../api/node-status.js';
import { danglingAttachments } from '../groups/changes/attaching.js';
import type { ReadinessParts, StatusParts } from './status-parts.js';

/**
 * Names by kind what is wrong although the node decides. Every reason follows from the present state, and ends with its
 * cause (test/unit/runtime/degraded-ends.test.ts).
 */
export const DEGRADED = {
  alone: ({ inForce: { dividedBy } }) =>
    only(dividedBy !== null, `alone: the topic was away at the start; quota / ${dividedBy} until it comes`),
  'topic-lost': ({ pump: { lost } }) => only(lost !== null, `topic lost: ${lost}`),
  'topic-throttled': ({ topic: { throttled = null } }) => only(throttled !== null, `topic throttled: ${throttled}`),
  'nodes-refused': ({ loop, config }, nowMs) =>
    only(
      isRecent(nowMs, loop.coordinator?.log.refusals.nodeMs),
      `nodes refused: the cluster has limits.maxNodes = ${config.limits.maxNodes} node ids already`,
    ),
  'reports-refused': ({ loop, config: { limits } }, nowMs) =>
    only(
      isRecent(nowMs, loop.coordinator?.log.refusals.rowsMs),
      `reports refused: a node reports more than limits.maxGroupsPerNode = ${limits.maxGroupsPerNode} groups, or all more than limits.maxRows = ${limits.maxRows} rows`,
    ),
  'charges-refused': ({ loop }, nowMs) => {
    const { refusals } = loop.coordinator?.log ?? {};
    const by = Array.from(refusals?.charges ?? [], ([nodeId, records]) => {
      return `${nodeId || 'a node without a name'} (${records} records)`;
    });
    const text = `charges refused: more tokens given back than were taken or expected to be, by ${by.join(', ')}`;
    return only(isRecent(nowMs, refusals?.chargeMs), text);
  },
  'partitions-added': ({ topic: { partitions, partitionsFound: found = partitions } }) =>
    only(found > partitions, `partitions added: the topic has ${found}, this cluster reads the first ${partitions}`),
  'topic-settings': ({ topic, registry }) =>
    [topic, registry?.topic].flatMap((each) => {
      const mistake = each?.settingsMistake ?? null;
      return only(mistake !== null, `topic settings: ${mistake}`);
    }),
  'registry-lost': ({ registry }) => {
    const lost = registry?.lost ?? null;
    return only(lost !== null, `registry lost, groups stay as they are: ${lost}`);
  },
  'registry-log': ({ registry }) => {
    const lacking = registry?.lacking ?? 0;
    return only(
      lacking > 0,
      `another log of the registry: it lacks ${lacking} entries yet (${registry?.epoch.name ?? ''})`,
    );
  },
  'registry-refused': ({ registry }) =>
    Array.from(registry?.refused ?? [], ([group, reason]) => `${group} of the registry: ${reason}`),
  apart: (parts) => {
    const apart = signedApart(parts);
    return only(apart !== null, `isolated: ${apart}`);
  },
  unsigned: unsignedRecords,
  'attachment-dangling': danglingAttachments,
  'config-refused': ({ yaml }) => yaml.degraded.refused,
  'rules-refused': ({ yaml }) => yaml.degraded.rules,
  'rules-away': ({ yaml }) => yaml.degraded.rulesAway,
  'needs-restart': ({ yaml }) => yaml.degraded.needsRestart,
  'yaml-differs': ({ yaml }) => yaml.degraded.differs,
  strict: ({ strict, slots, budgets, groups }) => [
    ...Array.from(strict.all).flatMap(([lane, kept]) => {
      const because = strict.because(kept);
      return only(because !== '', `strict group ${groups.ofLane(lane).name} admits nothing: ${because}`);
    }),
    ...Array.from(slots.all).flatMap(([group, kept]) => {
      const because = groups.isKey(group) ? '' : slots.because(kept);
      return only(because !== '', `group ${groups.at(group).name} lets nobody in: ${because}`);
    }),
    ...only(slots.becauseOfKeys !== '', `keys with concurrency let nobody in: ${slots.becauseOfKeys}`),
    ...Array.from(budgets.all).flatMap(([group, kept]) => {
      const because = groups.isKey(group) ? '' : budgets.because(kept);
      return only(because !== '', `budget of group ${groups.at(group).name} cannot be spent: ${because}`);
    }),
    ...only(budgets.becauseOfKeys !== '', `budgets of keys cannot be spent: ${budgets.becauseOfKeys}`),
  ],
  'strict-awaits': ({ strict, groups }) =>
    Array.from(groups.numbers.values()).flatMap((group) => {
      const nodes = strict.awaitedBy(group) ?? [];
      return only(nodes.length > 0, `group ${groups.at(group).name} stays relaxed until these say strict: ${nodes}`);
    }),
  'reports-wait': ({ loop: { coordinator }, config }, nowMs) => {
    const { waiting, shortSinceMs } = coordinator?.reportBudget ?? { waiting: 0, shortSinceMs: nowMs };
    const seconds = Math.round((nowMs - shortSinceMs) / 1000);
    const { maxReportsPerSecond } = config.timing;
    return only(
      waiting > 0 && nowMs - shortSinceMs > SHORT_SHOWN_MS,
      `reports wait: ${waiting} are due, and timing.maxReportsPerSecond = ${maxReportsPerSecond} has been too few for ${seconds} s`,
    );
  },
  epoch: ({ loop }) => {
    const epochs = loop.coordinator?.log.epochs;
    return only(
      epochs?.isHolding === true,
      `another log: shares are held until ${epochs?.awaited} more nodes have published in it (${epochs?.name})`,
    );
  },
  isolated: ({ loop, topic: { throttled = null } }, nowMs) => {
    const link = loop.coordinator?.link;
    return (link?.isolatedPartitions ?? []).map((partition) => {
      const silentMs = Math.round(link?.silentMs(partition, nowMs) ?? 0);
      return `isolated: partition ${partition}, own records silent for ${silentMs} ms${throttled === null ? '' : ', while the topic is throttled'}`;
    });
  },
} as const satisfies Readonly<Record<string, (parts: StatusParts, nowMs: number) => readonly string[]>>;

export type DegradedKind = keyof typeof DEGRADED;

function only(isSo: boolean, reason: string): readonly string[] {
  return isSo ? [reason] : [];
}

function isRecent(nowMs: number, lastMs = -Infinity): boolean {
  return nowMs - lastMs < REFUSED_SHOWN_MS;
}

/** Milliseconds before it shows: many groups that wake at once need a moment. */
const SHORT_SHOWN_MS = 5000;
/** Milliseconds: a refused node goes on writing every timing.heartbeatMs. */
const REFUSED_SHOWN_MS = 60_000;

/** Returns why signatures set the node apart; null = they do not. */
export function signedApart({ topic: { signatures } }: Pick<SignedParts, 'topic'>): string | null {
  if (!signatures?.isApart) return null;
  const who = signatures.strangers === 1 ? '1 node writes' : `${signatures.strangers} nodes write`;
  return `no other node signs with this node's key (topic.hmac.key, id ${signatures.keyId}), and ${who} with another or none`;
}

function reasonsOf(name: string, { signatures }: ReportTopic): string[] {
  if (signatures === undefined || signatures.sinceUnverifiedMs > ALARM_MS) return [];
  const count = Object.values(signatures.unverified).reduce((sum, each) => sum + each, 0);
  const what = signatures.mode === 'require' ? 'ignored' : 'accepted';
  return [`${name}: ${count} records without a signature of this cluster were ${what} so far`];
}

/** Describes unverified records: of a bad writer, or of a node with another key or none. */
function unsignedRecords({ topic, registry }: SignedParts): string[] {
  return [...reasonsOf('topic', topic), ...(registry === null ? [] : reasonsOf('registry', registry.topic))];
}

/** Describes signatures; empty = records are not signed. */
export function describeSignatures({ topic, registry }: SignedParts): SignatureStatus[] {
  return [...signaturesOf('reports', topic), ...(registry === null ? [] : signaturesOf('registry', registry.topic))];
}

function signaturesOf(log: SignatureStatus['log'], { signatures }: ReportTopic): SignatureStatus[] {
  if (signatures === undefined) return [];
  const { keyId, mode, verified, unverified, unverifiedKeys, previousKeys, strangers, isApart } = signatures;
  const counts = { verified: { ...verified }, unverified: { ...unverified }, unverifiedKeys, previousKeys };
  return [{ log, keyId, mode, ...counts, strangers, isApart }];
}

/** Milliseconds for which unsigned records raise an alarm. */
const ALARM_MS = 300_000;

type SignedParts = Pick<ReadinessParts, 'topic' | 'registry'>;
