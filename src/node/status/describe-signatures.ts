import type { ReportTopic } from '../../base/ports/report-topic.js';
import type { SignatureStatus } from '../api/node-status.js';

import type { ReadinessParts } from './status-parts.js';

type SignedParts = Pick<ReadinessParts, 'topic' | 'registry'>;

/** Milliseconds for which unsigned records raise an alarm. */
const ALARM_MS = 300_000;

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

/** Describes records of a bad writer, or of a node with another key or none. */
export function unsignedRecords({ topic, registry }: SignedParts): string[] {
  return [...reasonsOf('topic', topic), ...(registry === null ? [] : reasonsOf('registry', registry.topic))];
}

/** Returns why signatures set the node apart; null = they do not. */
export function signedApart({ topic: { signatures } }: Pick<SignedParts, 'topic'>): string | null {
  if (!signatures?.isApart) return null;
  const who = signatures.strangers === 1 ? '1 node writes' : `${signatures.strangers} nodes write`;
  return `no other node signs with this node's key (topic.hmac.key, id ${signatures.keyId}), and ${who} with another or none`;
}

function reasonsOf(name: string, { signatures }: ReportTopic): string[] {
  if (signatures === undefined || signatures.sinceUnverifiedMs > ALARM_MS) return [];
  const count = Object.values(signatures.unverified).reduce((sum, each) => sum + each, 0);
  const what = signatures.mode === 'require' ? 'ignored' : 'believed';
  return [`${name}: ${count} records without a signature of this cluster were ${what} so far`];
}
