import { expect, it } from 'vitest';
import type { BrokerLink } from '../../../src/topic/kafka/broker-link.js';
import { loadKafkajs } from '../../../src/topic/kafka/kafkajs-internals.js';
import { SettingsWatch } from '../../../src/topic/kafka/settings-watch.js';
import { CREATED_WITH } from '../../../src/topic/kafka/topic-settings.js';

/** A broker that describes the topic as it is set now. */
function brokerOf(settings: Record<string, string>): BrokerLink {
  const entries = () => Object.entries(settings).map(([configName, configValue]) => ({ configName, configValue }));
  const send = () => Promise.resolve({ resources: [{ errorCode: 0, configEntries: entries() }] });
  return { address: { host: 'kafka', port: 9092 }, send } as unknown as BrokerLink;
}

it.each([
  ['cleanup.policy', 'delete', false],
  ['cleanup.policy', 'compact,delete', true],
  ['retention.ms', '60000', false],
  ['delete.retention.ms', '0', false],
])('%s = %s is named until it is mended, and logged once', async (setting, value, keepsForever) => {
  const settings: Record<string, string> = { ...CREATED_WITH };
  const logged: string[] = [];
  const watch = new SettingsWatch(loadKafkajs(), { topic: 'reports', keepsForever, strict: null }, (_, text) =>
    logged.push(text),
  );
  const link = brokerOf(settings);
  await watch.look(link, 1);
  expect(watch.mistake).toBeNull();
  Object.assign(settings, { 'cleanup.policy': 'compact,delete', [setting]: value });
  for (let time = 0; time < 3; time++) await watch.look(link, 1);
  expect(watch.mistake).toMatch(new RegExp(`^${setting} is ${value}, wanted .*; to correct: kafka-configs.sh`));
  Object.assign(settings, CREATED_WITH);
  for (let time = 0; time < 3; time++) await watch.look(link, 1);
  expect(watch.mistake).toBeNull();
  expect(logged).toEqual([
    expect.stringContaining(`not set up as nodes need it: ${setting} is ${value}`),
    'Kafka topic has the settings again that nodes need',
  ]);
});
