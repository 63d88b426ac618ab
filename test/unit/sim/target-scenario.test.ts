import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { targetScenarioJsonSchema } from '../../../sim/target/json-schema.js';
import { builtInTargetNames, loadAnyScenario, parseTargetScenario } from '../../../sim/target/load-target-scenario.js';
import { playTargetScenario, type TargetSecond } from '../../../sim/target/target-run.js';

const WHOLE = `name: mine
says: A story.
backends: [{ name: db, count: 2, capacityPerSecond: 50 }]
groups: [{ name: A, costPerSecond: 100, reservedCostPerSecond: 10 }]
clients: [{ group: A, wantedPerSecond: 5, units: 2 }]
phases: [{ forSeconds: 5 }]
`;

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

  test('names of both kinds are known, and near ones are told', () => {
    expect(loadAnyScenario('skewed').kind).toBe('nodes');
    expect(loadAnyScenario('gtt/Simple').kind).toBe('backends');
    expect(builtInTargetNames()).toHaveLength(14);
  });

  test('the JSON Schema for editors is what the build writes', () => {
    const file = new URL('../../../schema/target-scenario.schema.json', import.meta.url);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(targetScenarioJsonSchema());
  });
});
