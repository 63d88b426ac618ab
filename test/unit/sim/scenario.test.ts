import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scenarioJsonSchema } from '../../../sim/scenario/json-schema.js';
import { builtInNames, loadBuiltIn, loadScenario, parseScenario } from '../../../sim/scenario/load-scenario.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';
import { schemaJudge } from '../../schema-judge.js';

const GOOD = `name: small
says: A story.
durationSeconds: 10
nodes: 2
load:
  - { kind: poisson, ratePerSecond: 100 }
`;

describe('a scenario', () => {
  test('gets every default, and units are read', () => {
    const scenario = parseScenario(`${GOOD}quota: { messagesPerSecond: 1k, bytesPerSecond: 1MiB }\n`, 'x.yaml');
    expect(scenario).toMatchObject({
      durationMs: 10_000,
      nodes: ['n1', 'n2'],
      quota: { messagesPerSecond: 1000, bytesPerSecond: 1_048_576 },
      delays: { appendMs: [0.5, 2], deliveryMs: [0.5, 3] },
      faults: { lostRatio: 0, repeatedRatio: 0, lateRatio: 0, lateMs: 0 },
      settings: { partitions: 1, heartbeatMs: 1000, sampleIntervalMs: 20, groups: [{ debtMs: 60_000, weights: {} }] },
      settleMs: 5000,
      settlePointsMs: null,
    });
    expect(parseScenario(GOOD, 'x.yaml').quota.messagesPerSecond).toBe(Infinity);
  });

  test('group and timing are those of node.yaml', () => {
    const text = `${GOOD}group: { isolation: { holdMs: 2s } }\ntiming: { heartbeatMs: 500 }\n`;
    const { settings } = parseScenario(text, 'x.yaml');
    expect(settings.heartbeatMs).toBe(500);
    expect(settings.groups[0]?.isolation).toEqual({ policy: 'equal-share', holdMs: 2000 });
  });

  test('one by one: a rolling restart is one happening per node', () => {
    const text = `${GOOD}happenings:\n  - { atSeconds: 1, what: leave, forSeconds: 1, everySeconds: 3 }\n`;
    const happenings = parseScenario(text, 'x.yaml').happenings.map(({ atMs, nodes }) => [atMs, ...nodes]);
    expect(happenings).toEqual([
      [1000, 'n1'],
      [4000, 'n2'],
    ]);
  });
});

describe('a broken scenario', () => {
  test('a file that is not there, and a name that is nearly one', () => {
    expect(() => loadScenario('nowhere.yaml')).toThrow(/cannot read nowhere.yaml: there is no such file/);
    expect(() => loadScenario('skewd')).toThrow(/no scenario is named "skewd".*Did you mean "skewed"/);
  });
});

describe('the built-in scenarios', () => {
  let app: Awaited<ReturnType<typeof schemaJudge>>;
  beforeAll(async () => {
    app = await schemaJudge(scenarioJsonSchema());
  });
  afterAll(() => app.close());

  test('the JSON Schema is what the build writes, and refuses what is no scenario', async () => {
    const written = readFileSync(new URL('../../../schema/scenario.schema.json', import.meta.url), 'utf8');
    expect(JSON.parse(written)).toEqual(scenarioJsonSchema());
    const wrong = { ...(parseYaml(GOOD).raw as object), load: [{ kind: 'poisson', rate: 5 }] };
    expect((await app.inject({ method: 'POST', url: '/', payload: wrong })).statusCode).toBe(400);
  });

  test.each(builtInNames())(
    '%s is named as its file, expects something of max-min, and fits the JSON Schema',
    async (name) => {
      const scenario = loadBuiltIn(name);
      expect(scenario.name).toBe(name);
      expect(scenario.expectations.get('max-min')?.length).toBeGreaterThan(0);
      const text = readFileSync(new URL(`../../../sim/scenarios/${name}.yaml`, import.meta.url), 'utf8');
      const response = await app.inject({ method: 'POST', url: '/', payload: parseYaml(text).raw as object });
      expect(response.statusCode, response.body).toBe(200);
    },
  );
});
