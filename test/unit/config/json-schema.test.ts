import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configJsonSchema } from '../../../src/config/describe/json-schema.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';
import { schemaJudge } from '../../schema-judge.js';

let app: Awaited<ReturnType<typeof schemaJudge>>;
beforeAll(async () => {
  app = await schemaJudge(configJsonSchema());
});
afterAll(() => app.close());

async function statusOf(config: unknown): Promise<number> {
  const response = await app.inject({ method: 'POST', url: '/', payload: config as object });
  return response.statusCode;
}

describe('the JSON Schema for editors', () => {
  test('is what the build writes into schema/', () => {
    const written = readFileSync(new URL('../../../schema/node.schema.json', import.meta.url), 'utf8');
    expect(JSON.parse(written)).toEqual(configJsonSchema());
  });

  test.each(['node.yaml', 'node-kafka.yaml'])('accepts examples/%s', async (name) => {
    const text = readFileSync(new URL(`../../../examples/${name}`, import.meta.url), 'utf8');
    expect(await statusOf(parseYaml(text).raw)).toBe(200);
  });

  const groups = { orders: { quota: { publish: { messagesPerSecond: '10k', bytesPerSecond: null } } } };

  test.each([
    ['short topics', { cluster: 'a', topic: 'embedded', groups }, 200],
    ['tls: true', { cluster: 'a', topic: { kind: 'kafka', brokers: 'a:1', tls: true }, groups }, 200],
    ['an unknown key', { cluster: 'a', groups, htttp: {} }, 400],
    ['an unknown group key', { cluster: 'a', groups: { orders: { qouta: {} } } }, 400],
    ['a wrong choice', { cluster: 'a', log: { level: 'loud' }, groups }, 400],
    ['a number out of range', { cluster: 'a', http: { port: 70_000 }, groups }, 400],
    ['no cluster', { groups }, 400],
  ])('%s', async (_, config, status) => {
    expect(await statusOf(config)).toBe(status);
  });
});
