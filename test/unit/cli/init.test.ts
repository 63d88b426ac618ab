import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { loadConfig } from '../../../src/config/files/load-config.js';
import { initCommand } from '../../../src/tools/cli/init/init-command.js';
import { type Questioner, terminal, writeConfig } from '../../../src/tools/cli/init/write-config.js';
import { describeError } from '../../../src/tools/terminal/exit.js';
import { runInProcess } from './run-in-process.js';

/** What is asked, answered, said and written, as one reads it in a terminal. `UPDATE_GOLDEN=1` writes it anew. */
const TRANSCRIPT = fileURLToPath(new URL('init-transcript.txt', import.meta.url));

const folders: string[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

interface Story {
  readonly args: readonly string[];
  /** null = no terminal. */
  readonly answers: readonly string[] | null;
}

const STORIES: readonly Story[] = [
  { args: [], answers: ['', ''] },
  { args: [], answers: ['kafka-1:9092, kafka-2:9092', 'key:{id} 600/min'] },
  {
    args: [],
    answers: ['kafka-1', 'redis://10.0.0.5:6379', 'orders', 'orders much/s', 'orders -1/s', 'uploads 1MiB/s'],
  },
  { args: ['--cluster', 'shop', '--embedded', '--key', 'tenant:{t}/user:{u}', '--quota', '5/h'], answers: null },
  { args: ['--kafka', 'kafka:9092', '--topic', 'limits', '--group', 'a b'], answers: null },
  { args: ['--yes', '--quota', '20k/day'], answers: null },
  { args: [], answers: null },
  { args: ['--topic', 'limits'], answers: [] },
  { args: ['--redis', '10.0.0.5:6379'], answers: [] },
];

test('init, told from the first question to the file', async () => {
  const told: string[] = [];
  for (const story of STORIES) told.push(await play(story));
  const transcript = `${told.join('\n\n')}\n`;
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(TRANSCRIPT, transcript);
  expect(transcript).toBe(readFileSync(TRANSCRIPT, 'utf8'));
});

test.each([
  ['group, embedded', ['--yes']],
  ['group in bytes, Kafka', ['--yes', '--kafka', 'k:9092', '--quota', '1MiB/s']],
  ['key, Redis', ['--yes', '--redis', 'r:6379', '--key', 'key:{id}', '--quota', '600/min']],
  ['key of two fields', ['--yes', '--key', 'tenant:{t}/user:{u}']],
  ['a small quota', ['--yes', '--quota', '5/day']],
])('%s: what is written is valid, and so is every setting in its comments', async (_, args) => {
  const folder = newFolder();
  const file = join(folder, 'node.yaml');
  await played(file, args, null);
  await expect(loadConfig({ file })).resolves.toMatchObject({ cluster: 'demo' });
  const text = readFileSync(file, 'utf8');
  // Prose begins with a capital letter, or has no colon behind its first word.
  const bare = text.replace(/^( *)# ([a-z]\w*: )/gm, '$1$2');
  expect(bare.match(/^ *[a-z]\w*: /gm)!.length).toBeGreaterThan(text.match(/^ *[a-z]\w*: /gm)!.length);
  writeFileSync(file, bare);
  await expect(loadConfig({ file })).resolves.toMatchObject({ cluster: 'demo' });
});

test('by the command itself: written, refused where the file is there, and where nobody can be asked', async () => {
  const file = join(newFolder(), 'node.yaml');
  const written = await runInProcess(['init', file, '--yes']);
  expect([written.code, written.stderr]).toEqual([0, '']);
  expect(readFileSync(file, 'utf8')).toContain('cluster: demo');
  const refused = await runInProcess(['init', file, '--yes']);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('is there already')]);
  const unasked = await runInProcess(['init', `${file}.new`]);
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('--yes')]);
});

test('a file that is there stays as it is, unless --force replaces it', async () => {
  const folder = newFolder();
  const file = join(folder, 'node.yaml');
  writeFileSync(file, 'mine');
  expect(await played(file, ['--yes'], null)).toContain('is there already; nothing is written');
  expect(readFileSync(file, 'utf8')).toBe('mine');
  await played(file, ['--yes', '--force'], null);
  expect(readFileSync(file, 'utf8')).toContain('cluster: demo');
});

test('whoever leaves before the last answer has written nothing', async () => {
  const folder = newFolder();
  expect(await played(join(folder, 'node.yaml'), [], [''])).toContain(
    'ended before the last answer: nothing is written',
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('a folder that is not there', async () => {
  expect(await played(join(newFolder(), 'nowhere/node.yaml'), ['--yes'], null)).toMatch(/cannot write .*ENOENT/);
});

async function play({ args, answers }: Story): Promise<string> {
  const folder = newFolder();
  const file = join(folder, 'node.yaml');
  const said = await played(file, args, answers);
  const written = readdirSync(folder).length === 0 ? '' : `---- node.yaml\n${readFileSync(file, 'utf8')}`;
  return `$ quotamesh init${args.map((arg) => ` ${/[ {]/.test(arg) ? `"${arg}"` : arg}`).join('')}\n${said}${written}`
    .replaceAll(`${folder}/`, '')
    .trimEnd();
}

/** Both outputs, as they come. */
async function played(file: string, args: readonly string[], answers: readonly string[] | null): Promise<string> {
  let said = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    said += String(chunk);
    return true;
  });
  const left = [...(answers ?? [])];
  const asked: Questioner = {
    isTerminal: answers !== null,
    ask: async (question) => {
      const answer = left.shift() ?? null;
      said += `${question}${answer ?? '^D'}\n`;
      return answer;
    },
    say: (line) => {
      said += `${line}\n`;
    },
    close: () => undefined,
  };
  const command = initCommand().exitOverride();
  command.action((_, options) => writeConfig(file, options, asked));
  await command.parseAsync([...args], { from: 'user' }).catch((error: unknown) => {
    said += `quotamesh: ${describeError(error)}\n`;
  });
  vi.restoreAllMocks();
  expect(left, 'answers that nobody asked for').toEqual([]);
  return said;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-init-'));
  folders.push(folder);
  return folder;
}

test('lines that are pasted at once answer one question each', async () => {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = new PassThrough();
  const asked = terminal(input, output);
  input.write('kafka-1:9092\norders 300/min\n');
  const answers = [await asked.ask('Where? '), await asked.ask('Who? ')];
  input.end();
  expect([...answers, await asked.ask('And? ')]).toEqual(['kafka-1:9092', 'orders 300/min', null]);
  asked.close();
});
