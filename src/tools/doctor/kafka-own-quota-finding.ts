import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { ClientQuotaAdmin } from '../../topic/kafka/client-quota-admin.js';
import type { KafkaTopicConfig } from '../../topic/kafka/kind.js';
import { clientText, heldQuotas, ownQuotaCommand, quotaClientOf } from '../../topic/kafka/own-quota.js';
import { type Finding, good, noted, skipped } from './finding.js';

const ABOUT = 'client quotas';

/** Checks Kafka's quotas for this node; everybody's isolate it under load. */
export async function ownQuotaFinding(topic: KafkaTopicConfig, timeoutMs: number): Promise<Finding> {
  const patient = { ...topic, connectionTimeoutMs: Math.min(topic.connectionTimeoutMs, timeoutMs) };
  const admin = new ClientQuotaAdmin(patient, () => undefined);
  const client = quotaClientOf(topic.clientId, topic.sasl, topic.tls);
  const who = clientText(client);
  try {
    const held = heldQuotas(client, await admin.describe());
    if (held.length === 0) return good(ABOUT, `none holds for this node (${who})`);
    const quotas = held.map(({ key, value }) => `${key}=${value}`).join(', ');
    if (!held.some(({ isDefault }) => isDefault)) return good(ABOUT, `this node (${who}) has its own: ${quotas}`);
    const command = ownQuotaCommand(client, topic.brokers[0] ?? '<broker>');
    return noted(ABOUT, new QuotameshError('KAFKA_QUOTA_HOLDS', { client: who, quotas, command }));
  } catch (error) {
    return skipped(ABOUT, `not looked at: ${(error as Error).message}`);
  } finally {
    await admin.close();
  }
}
