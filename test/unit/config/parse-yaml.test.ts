import { describe, expect, test } from 'vitest';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';

describe('YAML', () => {
  test.each([
    ['brackets', '['.repeat(200_000), 1],
    ['braces', '{a: '.repeat(100_000), 1],
    ['dashes', '- '.repeat(100_000), 1],
    ['colons', `[${'a: '.repeat(3000)}]`, 1],
    ['indentation', Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'), 258],
  ])('that nests without end by %s is refused before the parser runs out of stack', (_, yaml, line) => {
    const { mistakes, readable } = parseYaml(yaml);
    expect(readable).toBe(false);
    expect(mistakes).toMatchObject([{ location: { line }, problem: 'is not readable as YAML: nests too deeply' }]);
  });

  test('with many brackets in texts and comments is fine', () => {
    const text = `a: "${'['.repeat(500)}"\n# ${'{ - '.repeat(500)}\nb: |\n  ${'[ '.repeat(500)}\n`;
    expect(parseYaml(text)).toMatchObject({ readable: true, mistakes: [] });
  });

  test('may use an anchor almost a thousand times', () => {
    const uses = (count: number) => Array.from({ length: count }, (_, index) => `  group-${index}: *one`).join('\n');
    const anchored = 'defaults: &one { debtMs: 1s }\ngroups:\n';
    expect(parseYaml(anchored + uses(999)).readable).toBe(true);
    expect(parseYaml(anchored + uses(1001)).mistakes[0]?.problem).toMatch(/Excessive alias count/);
  });

  test('tells where a key and where its value stands, or what encloses a missing one', () => {
    const { locate } = parseYaml(
      'cluster: demo\ntopic: { kind: kafka, brokers: [a, b] }\nhttp:\ngroups:\n  a: &a { x: 1 }\n  b: *a\n',
    );
    expect(locate(['cluster'], 'key')).toEqual({ line: 1, column: 1 });
    expect(locate(['cluster'], 'value')).toEqual({ line: 1, column: 10 });
    expect(locate(['topic', 'brokers', 1], 'value')).toEqual({ line: 2, column: 36 });
    expect(locate(['topic', 'tls', 'ca'], 'value')).toEqual({ line: 2, column: 8 });
    expect(locate(['groups', 'b', 'x'], 'value')).toEqual({ line: 5, column: 14 });
    expect(locate(['nothing'], 'value')).toEqual({ line: 1, column: 1 });
  });

  test('turns keys into texts and keeps the numbers of values', () => {
    expect(parseYaml('1e3: 1e3\ntrue: yes\n').raw).toEqual({ '1e3': 1000, true: 'yes' });
  });
});
