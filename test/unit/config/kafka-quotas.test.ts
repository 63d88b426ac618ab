import { describe, expect, test } from 'vitest';
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

function mistakes(kafkaQuotas: string, head = HEAD): string[] {
  return examine(kafkaQuotas, head).mistakes.map(
    ({ line, path, problem, remedy }) => `${line} ${path} ${problem} | ${remedy}`,
  );
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

describe('a mistake is told with its line and what to do', () => {
  const at = (entity: string) => mistakes(`${PAGES}  entities:\n    - ${entity}\n`);

  test.each([
    ['{ clientId: app }', 'kafkaQuotas.entities[0].group is missing'],
    ['{ group: app }', 'kafkaQuotas.entities[0].clientId or user must be given'],
    ['{ clientId: app, group: ap }', 'must name a configured group, got "ap" | Did you mean "app"?'],
    ['{ clientId: app, group: counted }', 'has no quota in bytes | Add quota.publish.bytesPerSecond'],
    ['{ clientId: "x<default>", group: app }', 'must be "<default>" alone'],
    ['{ clientId: "{id}", group: "client:{name}" }', 'needs {name}, which nothing in the rule says'],
    ['{ clientId: app, group: app, ip: "1.1.1.1" }', 'is not a known key'],
    ['{ clientId: -1, group: app }', 'must be a client id'],
    ['{ clientId: "", group: app }', 'must be a client id'],
  ])('%s', (entity, told) => {
    const [first, ...others] = at(entity);
    expect(first).toContain(told);
    expect(first).toMatch(/^1\d /);
    expect(others).toEqual([]);
  });

  test('twice the same entity, twice the same page', () => {
    const entity = '    - { clientId: app, group: app }\n';
    expect(mistakes(`${PAGES}  entities:\n${entity}${entity}`)).toEqual([
      expect.stringContaining('kafkaQuotas.entities[1] is never reached: entity 0 is the same'),
    ]);
    expect(mistakes('  exporters: ["http://a/", "http://a/"]\n')).toEqual([
      expect.stringContaining('kafkaQuotas.exporters[1] is given twice'),
    ]);
  });

  test.each([
    ['the same metric', 'byte_rate', 'byte_rate'],
    ['one of two series of the other', 'byte_rate', 'byte_rate{type="Fetch"}'],
    ['labels that do not exclude each other', 'byte_rate{type="Produce"}', 'byte_rate{direction="in"}'],
    ['the default of another', 'kafka_server_fetch_throttle_time', 'other'],
  ])('two selectors that match the same series: %s', (_, producerRate, consumerRate) => {
    const told = mistakes(`  metrics:\n    producerRate: '${producerRate}'\n    consumerRate: '${consumerRate}'\n`);
    expect(told.length).toBe(1);
    expect(told[0]).toMatch(
      /^1\d kafkaQuotas\.metrics\..* must match other series than kafkaQuotas\.metrics\.producerRate/,
    );
    expect(told[0]).toContain('| Name the label that tells them apart, e.g. ');
  });

  test.each(['byte_rate{type=Produce}', 'byte_rate{}', 'byte rate', '{type="Produce"}', 'byte_rate{type="Produce",}'])(
    'no selector: %s',
    (text) => {
      expect(mistakes(`  metrics: { producerRate: '${text}' }\n`)).toEqual([
        expect.stringContaining('must be the name of a metric, or name{label="value"}'),
      ]);
    },
  );

  test('no page, no address, credentials in it', () => {
    const entities = '  entities:\n    - { clientId: app, group: app }\n';
    expect(mistakes(entities)).toEqual([expect.stringContaining('kafkaQuotas.exporters is required with entities')]);
    for (const url of ['kafka-1:7071', 'ftp://x/', 'http://me:secret@x/']) {
      const [told] = mistakes(`  exporters: ["${url}"]\n`);
      expect(told).toContain('must be an http or https address without credentials');
    }
  });

  test('another topic than Kafka', () => {
    const head = HEAD.replace(/topic:.*/, 'topic: embedded');
    expect(mistakes(`${PAGES}  entities:\n    - { clientId: app, group: app }\n`, head)).toEqual([
      expect.stringContaining('kafkaQuotas needs a topic of kind kafka'),
    ]);
  });

  test.each([
    'aliveMs: 0',
    'aliveMs: -1',
    'holdMs: 0',
    'timeoutMs: -1',
    'maxPageBytes: 0',
    'maxEntities: 0',
    'foreignChanges: maybe',
  ])('%s', (setting) => {
    expect(mistakes(`  ${setting}\n`)).toHaveLength(1);
  });
});
