import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { someOf } from '../../property/seed.js';
import { type CliProcess, CliScene, type Exit, ONE_GROUP, sendJson } from './cli-process.js';

const CLEAN: Exit = { code: 0, signal: null, stdout: '', stderr: '' };

/**
 * `quotamesh … | head -1`: a reader that has seen enough is no failure, and a command that goes on until Ctrl-C ends
 * with its next line. (`quotamesh run` goes on without a reader of its log: run.test.ts.)
 */
describe.concurrent('a reader that goes away', () => {
  let url: string;
  /** Each ends something of the node; they are called in this order. */
  const ends: (() => void | Promise<void>)[] = [];

  afterAll(async () => {
    for (const end of ends) await end();
  });

  beforeAll(async () => {
    const scene = new CliScene((end) => void ends.unshift(end));
    const node = scene.start(['run', '--config', join(scene.folderWith({ 'node.yaml': ONE_GROUP }), 'node.yaml')]);
    await node.logged('node ready: it reads and writes the topic, and decides');
    url = await node.url();
    await makeGroup(url, 'first');
  });

  it.for(
    someOf([
      ['top', '--every', '0.1'],
      ['top', '--every', '0.1', '--json'],
    ]),
  )('ends %s after its first line, with 0 and no word', async (args, { expect, onTestFinished }) => {
    const scene = new CliScene(onTestFinished);
    expect(await readOneLine(scene.start([...args, '--url', url]))).toEqual({ ...CLEAN, stdout: expect.any(String) });
  });

  it('ends audit --follow with the next change', async ({ expect, onTestFinished }) => {
    const scene = new CliScene(onTestFinished);
    const following = scene.start(['audit', '--follow', '--url', url]);
    const ended = readOneLine(following);
    await following.until(() => following.stdout.includes('first'), 'the first change');
    const changes = setInterval(() => void makeGroup(url, `later-${performance.now()}`).catch(() => undefined), 200);
    onTestFinished(() => clearInterval(changes));
    expect(await ended).toEqual({ ...CLEAN, stdout: expect.stringMatching(/^\d+ .* made group first/) });
  });

  it.for(
    someOf([
      ['status', '--url'],
      ['nodes', '--url'],
      ['explain', 'orders', '--url'],
      ['group', 'export', '--url'],
      ['audit', '--url'],
    ]),
  )('that was never there: %s %s ends with 0 and no word', async (args, { expect, onTestFinished }) => {
    const scene = new CliScene(onTestFinished);
    const command = scene.start([...args, url]);
    command.closeStdout();
    expect(await command.exit).toEqual(CLEAN);
  });

  it.for(
    someOf([
      [['sim', 'list']],
      [['sim', 'run', 'skewed']],
      [['sim', 'swarm', '--seeds', '2']],
      [['completion', 'bash']],
      [['config', 'show', '--config', 'node.yaml']],
      [['check', 'node.yaml']],
      [['--help']],
    ]),
  )('that was never there: %s ends with 0 and no word', async ([args], { expect, onTestFinished }) => {
    const scene = new CliScene(onTestFinished);
    const folder = scene.folderWith({ 'node.yaml': ONE_GROUP });
    const command = scene.start(args.map((word) => (word === 'node.yaml' ? join(folder, word) : word)));
    command.closeStdout();
    const stderr = expect.not.stringMatching(/EPIPE| {3}at /);
    expect(await command.exit).toMatchObject({ code: 0, signal: null, stderr });
  });
});

/** As `head -1` does. */
async function readOneLine(command: CliProcess): Promise<Exit> {
  await command.until(() => command.stdout.includes('\n'), 'a line');
  command.closeStdout();
  return command.exit;
}

async function makeGroup(url: string, name: string): Promise<void> {
  const status = await sendJson('PUT', `${url}/v1/groups/${name}`, { quota: { publish: { messagesPerSecond: 1 } } });
  if (status >= 300) throw new Error(`PUT ${name}: ${status}`);
}
