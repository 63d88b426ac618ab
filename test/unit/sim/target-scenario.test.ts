import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseScenario } from '../../../sim/scenario/load-scenario.js';
import { targetScenarioJsonSchema } from '../../../sim/target/json-schema.js';
import { builtInTargetNames, loadAnyScenario, parseTargetScenario } from '../../../sim/target/load-target-scenario.js';
import { playTargetScenario, type TargetSecond } from '../../../sim/target/target-run.js';
import { ConfigError } from '../../../src/config/setting/config-error.js';

const WHOLE = `name: mine
says: A story.
backends: [{ name: db, count: 2, capacityPerSecond: 50 }]
groups: [{ name: A, costPerSecond: 100, reservedCostPerSecond: 10 }]
clients: [{ group: A, wantedPerSecond: 5, units: 2 }]
phases: [{ forSeconds: 5 }]
`;

function mistakesOf(text: string): readonly string[] {
  try {
    parseTargetScenario(text, 'mine.yaml');
  } catch (error) {
    return (error as ConfigError).mistakes.map(({ path, line, problem }) => `${line}: ${path} ${problem}`);
  }
  return [];
}

describe('a scenario of backends', () => {
  test('the one in docs/reference/scenarios.md plays, and backends hold both groups down in it', () => {
    const docs = readFileSync(new URL('../../../docs/reference/scenarios.md', import.meta.url), 'utf8');
    const yaml = /```yaml\n(# yaml-language-server: \$schema=schema\/target-scenario[\s\S]*?)```/.exec(docs)?.[1] ?? '';
    const scenario = parseTargetScenario(yaml, 'docs');
    const seconds: TargetSecond[] = [];
    const [before, after] = playTargetScenario(scenario, 'max-min', 1, (second) => seconds.push(second));
    expect(before).toMatchObject({ settledSec: 1, lastedSec: 30, reached: [] });
    expect(after?.settledSec).toBeGreaterThan(1);
    expect(seconds).toHaveLength(90);
    const { orders, reports } = (seconds.at(-1) as TargetSecond).groups;
    expect([orders?.busy, reports?.busy]).toEqual([true, true]);
    // 30 units/s reserved, at 6 units each.
    expect(orders?.target).toBeGreaterThanOrEqual(4.999);
  });

  test('same seed, same seconds', () => {
    const play = () => {
      const seconds: TargetSecond[] = [];
      playTargetScenario(parseTargetScenario(WHOLE, 'mine'), 'max-min', 7, (second) => seconds.push(second));
      return seconds;
    };
    expect(play()).toEqual(play());
  });

  test.each<{ says: string; from: string; to: string; mistake: RegExp }>([
    {
      says: 'a capacity of 0',
      from: 'Second: 50',
      to: 'Second: 0',
      mistake: /3: backends\[0\].capacityPerSecond must/,
    },
    { says: 'NaN', from: 'Second: 50', to: 'Second: .nan', mistake: /3: backends\[0\].capacityPerSecond must/ },
    {
      says: 'reserved > total',
      from: 'Second: 10 ',
      to: 'Second: 101 ',
      mistake: /4: .*at most costPerSecond = 100, got/,
    },
    {
      says: 'an unknown group',
      from: '{ group: A',
      to: '{ group: B',
      mistake: /5: clients\[0\].group must be one of A/,
    },
    { says: 'no cost', from: ', units: 2', to: '', mistake: /5: clients\[0\] has no cost/ },
    { says: 'an unknown key', from: 'units', to: 'unit', mistake: /5: clients\[0\].unit is not a known key/ },
    { says: 'a crowd', from: 'units: 2', to: 'units: 2, count: 201', mistake: /5: clients\[0\].count must be/ },
    { says: 'no client', from: '[{ group: A, wantedPerSecond: 5, units: 2 }]', to: '[]', mistake: /1 to 200 clients/ },
    { says: 'no end', from: '{ forSeconds: 5 }', to: '{}', mistake: /6: phases\[0\] never ends/ },
    { says: 'no phase', from: '[{ forSeconds: 5 }]', to: '[]', mistake: /6: phases never ends/ },
    {
      says: 'limiting',
      from: 'groups:',
      to: 'limiting: { zones: 1 }\ngroups:',
      mistake: /limiting.zones is not a known/,
    },
    {
      says: 'a backend that is not there',
      from: '5 }',
      to: '5, backends: [{ name: db, capacityPerSecond: 1 }] }',
      mistake: /6: phases\[0\].backends\[0\].name must be one of db-1, db-2/,
    },
    {
      says: 'a target of nobody',
      from: '5 }',
      to: '5, expect: [{ what: target, value: 1 }] }',
      mistake: /6: phases\[0\].expect\[0\].group is missing/,
    },
  ])('$says is a mistake with its line', ({ from, to, mistake }) => {
    const text = WHOLE.replace(from, to);
    expect(text).not.toBe(WHOLE);
    expect(mistakesOf(text).join('\n')).toMatch(mistake);
  });

  test('names that are there twice are told', () => {
    expect(mistakesOf(WHOLE.replace('[{ name: db', '[{ name: db-1, capacityPerSecond: 1 }, { name: db'))).toEqual([
      '3: backends has "db-1" twice',
    ]);
  });

  test('commands for clusters of nodes say where it belongs', () => {
    expect(() => parseScenario(WHOLE, 'mine.yaml')).toThrow(/only `quotamesh sim run` plays/);
  });

  test('names of both kinds are known, and near ones are told', () => {
    expect(loadAnyScenario('skewed').kind).toBe('nodes');
    expect(loadAnyScenario('gtt/Simple').kind).toBe('backends');
    expect(builtInTargetNames()).toHaveLength(14);
  });

  test('the JSON Schema for editors is what the build writes', () => {
    const file = new URL('../../../schema/target-scenario.schema.json', import.meta.url);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(targetScenarioJsonSchema());
  });

  test('a mistake is a ConfigError', () => {
    expect(() => parseTargetScenario('backends: 3', 'x.yaml')).toThrow(ConfigError);
  });
});
