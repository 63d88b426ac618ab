import { loadConfig } from '../../../config/files/load-config.js';
import { releaseQuotas } from '../../../doors/kafka-quotas/release-quotas.js';
import { createKeeperTopic } from '../../../node/loop/open-topics.js';
import { ClientQuotaAdmin } from '../../../topic/kafka/client-quota-admin.js';
import { print } from '../../terminal/print.js';
import { hideSecretsOf } from './hide-secrets.js';
import type { KafkaQuotasOptions } from './kafka-quotas-command.js';

export async function release({ config: file, node: nodeId, http }: KafkaQuotasOptions): Promise<void> {
  const config = await loadConfig({ file, env: { ...process.env }, overrides: { nodeId, http } });
  hideSecretsOf(config);
  const log = (level: string, message: string, facts: Readonly<Record<string, unknown>> = {}) => {
    if (level === 'warn' || level === 'error') process.stderr.write(`quotamesh: ${message} ${JSON.stringify(facts)}\n`);
  };
  const { topic, kafka } = await createKeeperTopic(config, { log });
  const admin = new ClientQuotaAdmin(kafka, log);
  await releaseQuotas({ config, topic, admin, tell: print });
}
