import { expect, test } from 'vitest';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';

const HEAD = `
cluster: demo
topic: { kind: kafka, brokers: ["127.0.0.1:9092"] }
groups:
  app: { quota: { publish: { bytesPerSecond: 1000 } } }
  counted: { quota: { publish: { messagesPerSecond: 1000 } } }
keys:
  "client:{id}": { quota: { dispatch: { bytesPerSecond: 500 } } }
`;

function examine(kafkaQuotas: string, head = HEAD) {
  const { raw, locate } = parseYaml(`${head}kafkaQuotas:\n${kafkaQuotas}`);
  return examineConfig(raw, { source: 'keeper.yaml', locate });
}

const PAGES = '  exporters: ["http://kafka-1:7071/metrics"]\n';

test('users, client ids, both, defaults and patterns', () => {
  const { config } = examine(`${PAGES}  entities:
    - { clientId: app, group: app }
    - { user: alice, group: app }
    - { user: alice, clientId: app, group: app }
    - { clientId: "<default>", group: app }
    - { clientId: "{id}", group: "client:{id}" }
    - { clientId: "batch-*", group: "client:all" }
`);
  expect(config?.kafkaQuotas.exporters).toEqual(['http://kafka-1:7071/metrics']);
  expect(config?.kafkaQuotas.entities).toEqual([
    { user: null, clientId: 'app', group: 'app' },
    { user: 'alice', clientId: null, group: 'app' },
    { user: 'alice', clientId: 'app', group: 'app' },
    { user: null, clientId: '<default>', group: 'app' },
    { user: null, clientId: '{id}', group: 'client:{id}' },
    { user: null, clientId: 'batch-*', group: 'client:all' },
  ]);
});

test('metrics that a label tells apart', () => {
  const { config, mistakes: none } = examine(`  metrics:
    producerRate: 'byte_rate{type="Produce", host="a\\"b"}'
    consumerRate: 'byte_rate{type="Fetch"}'
`);
  expect(none).toEqual([]);
  expect(config?.kafkaQuotas.metrics.consumerRate).toBe('byte_rate{type="Fetch"}');
});
