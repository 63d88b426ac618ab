import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scenarioJsonSchema } from '../../../sim/scenario/json-schema.js';
import { builtInNames, loadBuiltIn, loadScenario, parseScenario } from '../../../sim/scenario/load-scenario.js';
import { ConfigError } from '../../../src/config/setting/config-error.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';
import { schemaJudge } from '../../schema-judge.js';

const GOOD = `name: small
says: A story.
durationSeconds: 10
nodes: 2
load:
  - { kind: poisson, ratePerSecond: 100 }
`;

function reportOf(text: string): readonly string[] {
  try {
    parseScenario(text, 'x.yaml');
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).report.split('\n');
  }
}

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
  test.each<[string, string, RegExp]>([
    ['a list', '- a\n', /^x.yaml:1:1: the configuration must be a mapping with the keys name, says, .*got a list/],
    ['no name', GOOD.replace('name: small\n', ''), /^x.yaml:1:1: name is missing\. Write a name/],
    ['an unknown key', `${GOOD}loda: []\n`, /^x.yaml:7:1: loda is not a known key\. Did you mean "load"/],
    ['no load', GOOD.replace(/load:[\s\S]*/, ''), /: load must be a list of loads, got undefined/],
    ['too long', GOOD.replace('10', '1e9'), /^x.yaml:3:18: durationSeconds must be a number between 1 and 3600/],
    [
      'no such kind',
      GOOD.replace('poisson', 'poison'),
      /^x.yaml:6:13: load\[0\].kind must be .* Did you mean "poisson"/,
    ],
    ['no kind', GOOD.replace('kind: poisson, ', ''), /^x.yaml:6:5: load\[0\] has no kind/],
    [
      'a key of another kind',
      GOOD.replace('ratePerSecond', 'size: 4, ratePerSecond'),
      /load\[0\].size is not a known key/,
    ],
    ['no rate', GOOD.replace(', ratePerSecond: 100', ''), /^x.yaml:6:5: load\[0\].ratePerSecond is missing/],
    ['a negative rate', GOOD.replace('100', '-1'), /^x.yaml:6:37: load\[0\].ratePerSecond must be a rate ≥ 0 .*got -1/],
    [
      'no such node',
      GOOD.replace('kind:', 'nodes: n3, kind:'),
      /load\[0\].nodes must name nodes of this scenario: n1, n2, got "n3"/,
    ],
    [
      'steps that fall',
      GOOD.replace('poisson, ratePerSecond: 100', 'steps, steps: [[5, 1], [2, 1]]'),
      /steps must be a list of \[second, rate\] with rising/,
    ],
    [
      'no such happening',
      `${GOOD}happenings:\n  - { atSeconds: 1, what: crsh }\n`,
      /^x.yaml:8:27: happenings\[0\].what must be .* Did you mean "crash"/,
    ],
    [
      'after the end',
      `${GOOD}happenings:\n  - { atSeconds: 99, what: crash }\n`,
      /^x.yaml:8:18: happenings\[0\].atSeconds must be before the end, 10 s, got 99/,
    ],
    [
      'a wrong quota',
      `${GOOD}quota: { messagePerSecond: 1 }\n`,
      /quota.messagePerSecond is not a known key\. Did you mean "messagesPerSecond"/,
    ],
    ['a group key', `${GOOD}group: { bursts: 1 }\n`, /^x.yaml:7:10: group.bursts is not a known key/],
    [
      'a relation',
      `${GOOD}timing: { heartbeatMs: 4s }\n`,
      /timing.stalenessMs must be at least 3 × timing.heartbeatMs/,
    ],
    [
      'a system',
      `${GOOD}expect: { maxmin: {} }\n`,
      /^x.yaml:7:11: expect.maxmin is not a known name\. Did you mean "max-min"/,
    ],
    ['a metric', `${GOOD}expect: { max-min: { worst: { atMost: 1 } } }\n`, /expect.max-min.worst is not a known name/],
    ['no bound', `${GOOD}expect: { max-min: { jain: {} } }\n`, /expect.max-min.jain has no bound/],
    [
      'a wish that is no stricter than the bound',
      `${GOOD}expect: { max-min: { jain: { atLeast: 0.9, wished: 0.8 } } }\n`,
      /expect.max-min.jain.wished must be a bound stricter than the one beside it, got 0.8/,
    ],
    [
      'a wish without one bound beside it',
      `${GOOD}expect: { max-min: { jain: { wished: 0.8 } } }\n`,
      /expect.max-min.jain.wished must be a bound stricter/,
    ],
    ['no YAML', 'a: [', /^x.yaml:\d+:\d+: the configuration is not readable as YAML/],
    ['a key twice', `${GOOD}nodes: 3\n`, /^x.yaml:7:1: nodes is written twice, first in line 4/],
  ])('%s', (_, text, expected) => {
    const report = reportOf(text);
    expect(
      report.filter((line) => expected.test(line)),
      report.join('\n'),
    ).toHaveLength(1);
  });

  test('every mistake is told at once, in the order of lines', () => {
    const text = 'name: a b\nsays: x\ndurationSeconds: 5\nnodes: 0\nload:\n  - { kind: zpf }\nhappenings: 5\n';
    expect(reportOf(text).map((line) => line.split(' ')[0])).toEqual([
      'x.yaml:1:7:',
      'x.yaml:4:8:',
      'x.yaml:6:13:',
      'x.yaml:7:13:',
    ]);
  });

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
