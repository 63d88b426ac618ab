import { readFileSync } from 'node:fs';
import { describe, it } from 'vitest';
import { CliScene } from './cli-process.js';
import { runInProcess } from './run-in-process.js';

const GOOD = 'cluster: demo\ntopic: embedded\ngroups:\n  orders: { quota: { publish: { messagesPerSecond: 1000 } } }\n';
const BAD = 'cluster: demo\ngroups:\n  orders: { qouta: 1 }\n  mail: { strategy: fair }\n';
const SECRET = `cluster: demo
topic: { kind: kafka, brokers: ["127.0.0.1:9092"], sasl: { mechanism: plain, username: u, password: hunter22 } }
groups: { orders: {} }
`;

describe.concurrent('quotamesh', () => {
  it('--version', async ({ expect }) => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
    expect(await run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('--help and help of every command, with examples', async ({ expect }) => {
    const { code, stdout } = await run('--help');
    expect(code).toBe(0);
    const commands = [...stdout.matchAll(/^ {2}(run|check|status)\b/gm)].map(([, name]) => name);
    expect(commands).toEqual(['run', 'check', 'status']);
    expect(stdout).toContain('Examples:');
    for (const help of await Promise.all(['run', 'check', 'status'].map((name) => run(name, '--help')))) {
      expect(help).toMatchObject({ code: 0, stdout: expect.stringMatching(/Examples?:/) });
    }
  });

  it.for([
    ['no command', []],
    ['an unknown command', ['rnu']],
    ['an unknown option', ['run', '--confg', 'x.yaml']],
    ['no configuration', ['run']],
    ['check without a file', ['check']],
    ['a URL that is none', ['status', '--url', 'http://']],
    ['a URL of another kind', ['status', '--url', 'ftp://127.0.0.1']],
  ] as const)('%s is wrong use: exit 2', async ([, args], { expect }) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/`quotamesh( --help)?/);
  });

  it.for([
    ['quotamesh', ['rnu']],
    ['quotamesh group', ['group', 'sett']],
    ['quotamesh group set', ['group', 'set']],
    ['quotamesh group set', ['group', 'set', 'orders', '--revison', '1']],
    ['quotamesh group set', ['group', 'set', 'orders', '=']],
    ['quotamesh key template set', ['key', 'template', 'set']],
    ['quotamesh status', ['status', '--url', 'ftp://127.0.0.1']],
    ['quotamesh sim replay', ['sim', 'replay']],
  ] as const)('the help of %s is named where it is used wrongly: %j', async ([name, args], { expect }) => {
    const { code, stderr } = await run(...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`See \`${name} --help\`.`) });
  });

  it('check: a valid file is 0, a wrong one 78 with every mistake and its line', async ({ expect, onTestFinished }) => {
    const folder = new CliScene(onTestFinished).folderWith({ 'good.yaml': GOOD, 'bad.yaml': BAD });
    expect(await run('check', `${folder}/good.yaml`)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('valid'),
    });
    const { code, stdout, stderr } = await run('check', `${folder}/bad.yaml`);
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toMatch(/bad\.yaml:3:\d+: groups\.orders\.qouta is not a known key\. Did you mean "quota"\?/);
    expect(stderr).toMatch(/bad\.yaml:4:\d+: groups\.mail\.strategy must be one of/);
    expect(stderr).not.toMatch(/ {4}at /);
  });

  it('check: a file that is not there is 78', async ({ expect }) => {
    const { code, stderr } = await run('check', 'nowhere.yaml');
    expect(code).toBe(78);
    expect(stderr).toContain('cannot read nowhere.yaml');
  });

  it('run with a broken file starts nothing: exit 78', async ({ expect, onTestFinished }) => {
    const folder = new CliScene(onTestFinished).folderWith({ 'bad.yaml': BAD });
    const { code, stdout, stderr } = await run('run', '--config', `${folder}/bad.yaml`);
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain('groups.orders.qouta');
  });

  it('run and check validate flags and environment, too', async ({ expect, onTestFinished }) => {
    const scene = new CliScene(onTestFinished);
    const folder = scene.folderWith({ 'good.yaml': GOOD });
    const { code, stderr } = await run('run', '--config', `${folder}/good.yaml`, '--http', 'nonsense');
    expect(code).toBe(78);
    expect(stderr).toContain('--http must be HOST:PORT, PORT or unix:PATH');
    const wrong = scene.start(['check', `${folder}/good.yaml`], { QUOTAMESH_LOG_LEVEL: 'loud' });
    expect(await wrong.exit).toMatchObject({ code: 78, stderr: expect.stringContaining('QUOTAMESH_LOG_LEVEL') });
  });

  it('run --print-config shows what is in force, secrets masked', async ({ expect, onTestFinished }) => {
    const folder = new CliScene(onTestFinished).folderWith({ 'secret.yaml': SECRET });
    const { code, stdout } = await run('run', '--print-config', '--config', `${folder}/secret.yaml`, '--node', 'b');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^node: b$/m);
    expect(stdout).toContain('password: "***"');
    expect(stdout).not.toContain('hunter22');
  });

  it.for([
    [0, ['--version']],
    [2, ['nonsense']],
    [69, ['status', '--url', '127.0.0.1:1']],
  ] as const)('ends the process with %i', async ([code, args], { expect, onTestFinished }) => {
    expect(await new CliScene(onTestFinished).start(args).exit).toMatchObject({ code });
  });

  it('status of a node that is not there is 69', async ({ expect }) => {
    const { code, stderr } = await run('status', '--url', '127.0.0.1:1');
    expect(code).toBe(69);
    expect(stderr).toMatch(/no answer from a node at http:\/\/127\.0\.0\.1:1: /);
  });
});

function run(...args: readonly string[]) {
  return runInProcess(args);
}
