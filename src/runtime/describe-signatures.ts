import type { ReportTopic } from '../ports/report-topic.js';
import type { QuotaNode } from './quota-node.js';
import type { SignatureStatus } from './status.js';

/** Records that nobody of the cluster has signed are a reason to look for as long. */
const ALARM_MS = 300_000;

/** Empty where records are not signed. */
export function describeSignatures({ topic, registry }: QuotaNode): SignatureStatus[] {
  return [...signaturesOf('reports', topic), ...(registry === null ? [] : signaturesOf('registry', registry.topic))];
}

function signaturesOf(log: SignatureStatus['log'], { signatures }: ReportTopic): SignatureStatus[] {
  if (signatures === undefined) return [];
  const { keyId, mode, verified, unverified, unverifiedKeys, previousKeys } = signatures;
  return [{ log, keyId, mode, verified: { ...verified }, unverified: { ...unverified }, unverifiedKeys, previousKeys }];
}

/** Records of a bad writer, or of a node with another key or none. */
export function degradedSignatures({ topic, registry }: QuotaNode): string[] {
  return [...reasonsOf('topic', topic), ...(registry === null ? [] : reasonsOf('registry', registry.topic))];
}

function reasonsOf(name: string, { signatures }: ReportTopic): string[] {
  if (signatures === undefined || signatures.sinceUnverifiedMs > ALARM_MS) return [];
  const count = Object.values(signatures.unverified).reduce((sum, each) => sum + each, 0);
  const what = signatures.mode === 'require' ? 'ignored' : 'believed';
  return [`${name}: ${count} records without a signature of this cluster were ${what} so far`];
}
