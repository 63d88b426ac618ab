import { existsSync, readFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'vitest';
import { CliScene } from './cli-process.js';
import { runInProcess } from './run-in-process.js';

const SMALL = `name: small
says: A story of two seconds.
durationSeconds: 2
nodes: 2
quota: { messagesPerSecond: 100 }
load:
  - { kind: poisson, ratePerSecond: 100 }
expect:
  max-min: { worstSecond: { atMost: 2 }, records: { atMost: 1 } }
  proportional: { worstSecond: { atMost: 9 } }
`;

describe.concurrent('quotamesh sim', () => {
  it('list: every scenario with its story, every system', async ({ expect }) => {
    const { code, stdout } = await run('list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^skewed +60 +10 +One node is asked 2,000\/s/m);
    expect(stdout).toMatch(/^gtt\/Simple +10 +1 +FoundationDB/m);
    expect(stdout).toMatch(/^max-min +the production core/m);
    const { scenarios, systems } = JSON.parse((await run('list', '--json')).stdout);
    expect(scenarios.length).toBeGreaterThanOrEqual(30);
    expect(systems[0].name).toBe('max-min');
  });

  it('run: a table, what was missed by name, and exit code 1', async ({ expect, onTestFinished }) => {
    const { code, stdout, stderr } = await run('run', fileOf(SMALL, onTestFinished));
    expect(code).toBe(1);
    expect(stdout).toMatch(/^small: A story of two seconds\.\nquotamesh max-min, seed 1, 2 s\n/);
    expect(stdout).toMatch(/^worstSecond +\d\.\d+ +≤ 2 /m);
    expect(stdout).toMatch(/^records +\d+ +≤ 1 +missed /m);
    expect(stderr).toMatch(/^missed: small, quotamesh max-min, seed 1: records \d+ > 1$/m);
  });

  it('run --json --html: the same bytes again, and the page is written', async ({ expect, onTestFinished }) => {
    const path = fileOf(SMALL, onTestFinished);
    const page = `${path}.html`;
    const options = ['run', path, '--json', '--seed', '5', '--strategy', 'proportional'];
    const [one, other] = await Promise.all([run(...options, '--html', page), run(...options)]);
    expect(one).toEqual({ code: 0, stdout: other?.stdout, stderr: '' });
    expect(JSON.parse(one?.stdout ?? '')).toMatchObject({ scenario: 'small', seed: 5, nodes: ['n1', 'n2'] });
    expect(existsSync(page) && readFileSync(page, 'utf8')).toMatch(/^<!doctype html>/);
  });

  it('scenarios of backends: played by name, and what does not go with them is told', async ({ expect }) => {
    const [played, json, foreign, compared] = await Promise.all([
      run('run', 'gtt/Simple', '--strategy', 'client-rate'),
      run('run', 'gtt/Simple', '--json'),
      run('run', 'gtt/Simple', '--strategy', 'pulsar'),
      run('compare', 'sim/scenarios/gtt/Simple.yaml'),
    ]);
    expect(played.code).toBe(0);
    expect(played.stdout).toMatch(
      /^phase 1: held from \d+ s on \(expected within 58 s\)\n {2}target of A 16.67 ± 10 %/m,
    );
    expect(JSON.parse(json.stdout)).toMatchObject({ scenario: 'gtt/Simple', strategy: 'max-min', phases: [{}] });
    expect([foreign.code, foreign.stderr]).toEqual([2, expect.stringMatching(/scenarios of backends are played on/)]);
    expect([compared.code, compared.stderr]).toEqual([78, expect.stringMatching(/only `quotamesh sim run` plays/)]);
  });

  it('compare: all systems, one row each', async ({ expect, onTestFinished }) => {
    const { code, stdout, stderr } = await run('compare', fileOf(SMALL, onTestFinished), '--seeds', '2');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^max-min +\d/m);
    expect(stdout).toMatch(/^equal-residual +\d/m);
    expect(stderr.match(/^missed: /gm)).toHaveLength(2);
  });

  it('swarm: one seed, and the same again', async ({ expect }) => {
    const { code, stdout } = await run('swarm', '--seed', '3', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ seed: 3, problems: [] });
  });

  it.for([
    ['an unknown scenario', ['run', 'skewd'], 2, /Did you mean "skewed"/],
    ['an unknown system', ['run', 'skewed', '--strategy', 'maxmin'], 2, /Did you mean "max-min"/],
    ['no scenario', ['run'], 2, /missing required argument/],
    ['an unknown command', ['rnu'], 2, /unknown command/],
    ['a seed that is none', ['run', 'skewed', '--seed', '-1'], 2, /whole number/],
    ['a live run of too much', ['live', 'skewed'], 78, /skewed\.yaml:8:3: load asks for 2720 requests\/s at 0 s/],
    ['a live run of what only a simulator has', ['live', 'one-way-link'], 78, /happenings\[0\]\.what must be one of/],
    ['a live run on a Kafka that nobody named', ['live', 'crash', '--topic', 'kafka'], 2, /needs --brokers/],
    ['a file that is not there', ['run', 'nowhere.yaml'], 78, /cannot read nowhere\.yaml/],
  ] as const)('%s', async ([, args, expected, text], { expect }) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(expected);
    expect(stderr).toMatch(text);
  });

  it('a broken scenario is 78, every mistake with its line', async ({ expect, onTestFinished }) => {
    const broken = SMALL.replace('nodes: 2', 'nodes: 0').replace('poisson', 'poison');
    const { code, stdout, stderr } = await run('run', fileOf(broken, onTestFinished));
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toMatch(/small\.yaml:4:8: nodes must be a whole number/);
    expect(stderr).toMatch(/small\.yaml:7:13: load\[0\]\.kind must be one of .* Did you mean "poisson"/);
    expect(stderr).not.toMatch(/ {4}at /);
  });
});

function run(...args: readonly string[]) {
  return runInProcess(['sim', ...args]);
}

function fileOf(text: string, onTestFinished: TestContext['onTestFinished']): string {
  return `${new CliScene(onTestFinished).folderWith({ 'small.yaml': text })}/small.yaml`;
}
