import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, it } from 'vitest';
import { RecordingWriter } from '../../../src/topic/recording/recording-writer.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';
import { CliScene } from './cli-process.js';
import { runInProcess } from './run-in-process.js';

const ROWS = Array.from({ length: 400 }, (_, at) => `${at * 10},${at % 3}`).join('\n');
const CSV = `ms,tenant\n${ROWS}\n`;
const FLAGS = ['--time', 'ms', '--time-format', 'ms', '--nodes', '2'];

describe.concurrent('quotamesh sim replay', () => {
  it('a CSV: a table by strategy, JSON, and a page', async ({ expect, onTestFinished }) => {
    const folder = new CliScene(onTestFinished).folderWith({ 'calls.csv': CSV });
    const table = await run(`${folder}/calls.csv`, ...FLAGS, '--by', 'tenant', '--html', `${folder}/page.html`);
    expect(table).toMatchObject({ code: 0, stderr: '' });
    expect(table.stdout).toContain(
      'calls.csv: 400 messages in 4.0 s at 2 nodes; quota 100 messages/s, unlimited bytes/s',
    );
    expect(table.stdout).toContain('No quota given: 100 messages/s is what 400 rows ask for on the mean.');
    expect(table.stdout).toMatch(/^quotamesh max-min +\d+ /m);
    expect(readFileSync(`${folder}/page.html`, 'utf8')).toContain('<h1 class="name">calls.csv</h1>');
    const json = await run(`${folder}/calls.csv`, ...FLAGS, '--quota', '1k', '--system', 'max-min', '--json');
    const { quota, runs } = JSON.parse(json.stdout);
    expect(quota).toEqual([1000, null]);
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatchObject({ system: 'quotamesh max-min', offered: 400, admitted: 400 });
  });

  it('a CSV with dates that is played faster: times on the page are those of the file', async ({
    expect,
    onTestFinished,
  }) => {
    const begunMs = Date.UTC(2026, 0, 2, 3, 4, 5);
    const dates = Array.from({ length: 600 }, (_, at) => new Date(begunMs + at * 1000).toISOString()).join('\n');
    const folder = new CliScene(onTestFinished).folderWith({ 'dated.csv': `time\n${dates}\n` });
    const flags = ['--time', 'time', '--nodes', '2', '--speed', '60', '--html', `${folder}/page.html`];
    expect(await run(`${folder}/dated.csv`, ...flags)).toMatchObject({ code: 0, stderr: '' });
    const page = readFileSync(`${folder}/page.html`, 'utf8');
    const [, text = ''] = /id="runs">(.*?)<\/script>/s.exec(page) ?? [];
    const [{ clock, sampleMs, dimensions }] = JSON.parse(text);
    expect(clock).toEqual({ begunMs, hasDays: false });
    // The last row comes 599 s after the first, and samples of 6 s cover it.
    expect(sampleMs * dimensions[0].quota.length).toBeGreaterThanOrEqual(599_000);
    expect(sampleMs * dimensions[0].quota.length).toBeLessThan(620_000);
  });

  it.for([
    ['no --time', [], 2, 'a CSV needs --time COLUMN'],
    ['an unknown column', ['--time', 'sm'], 78, 'calls.csv:1: --time names the column "sm"'],
    ['an unknown system', [...FLAGS, '--system', 'max-mim'], 2, 'got "max-mim". Did you mean "max-min"?'],
    ['no nodes', ['--time', 'ms', '--nodes', '0'], 2, '--nodes must be a whole number from 1 to 500'],
    ['no speed', [...FLAGS, '--speed', 'fast'], 2, '--speed must be a factor'],
    ['no quota', [...FLAGS, '--quota', '-1'], 2, '--quota must be a rate above 0'],
    ['an unknown format', [...FLAGS, '--time-format', 'min'], 2, 'Allowed choices are auto, iso, s, ms, us, ns'],
  ] as const)('%s is refused', async ([, flags, code, message], { expect, onTestFinished }) => {
    const folder = new CliScene(onTestFinished).folderWith({ 'calls.csv': CSV });
    const result = await run(`${folder}/calls.csv`, ...flags);
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
    expect(result.stderr).not.toMatch(/ {4}at /);
  });

  it('a file shorter than the mark of a recording is read', async ({ expect, onTestFinished }) => {
    const folder = new CliScene(onTestFinished).folderWith({ 'short.csv': 't\n1\n', 'mark.csv': '\ufeff' });
    const flags = ['--time', 't', '--quota', '1', '--system', 'max-min'];
    expect(await run(`${folder}/short.csv`, ...flags)).toMatchObject({ code: 0 });
    expect(await run(`${folder}/mark.csv`, ...flags)).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('the file is empty'),
    });
  });

  it('a pipe cannot be read twice, whatever its name', async ({ expect, onTestFinished }) => {
    const folder = new CliScene(onTestFinished).folderWith({});
    const pipe = `${folder}/pipe`;
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('sh', ['-c', 'printf "t\\n1\\n" > "$0"', pipe]);
    onTestFinished(() => void writer.kill());
    expect(await run(pipe, '--time', 't')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is no regular file and cannot be read twice to find a quota: name it with'),
    });
  });

  it('a file that is not there is 78', async ({ expect, onTestFinished }) => {
    const folder = new CliScene(onTestFinished).folderWith({});
    const result = await run(`${folder}/no.csv`, ...FLAGS);
    expect(result).toMatchObject({ code: 78, stderr: expect.stringContaining('there is no such file') });
  });

  it('a recording: no flags of a CSV; what is before damage, and what is lost', async ({ expect, onTestFinished }) => {
    const folder = new CliScene(onTestFinished).folderWith({});
    const file = join(folder, 'a.qmrec');
    const writer = await RecordingWriter.create(file);
    await writer.begin({
      format: 1,
      cluster: 'demo',
      version: '1',
      topic: 'kafka',
      startedAt: '2026-01-01T00:00:00.000Z',
      partitions: 1,
      timing: {},
      limiting: SETTINGS.limiting,
      groups: [GROUP],
      keys: [],
    });
    writer.caughtUp();
    writer.add(
      [1, 2, 3].map((offset) => ({ partition: 0, offset, appendMs: offset, key: 'x', value: Buffer.of(offset) })),
    );
    await writer.end();
    expect(await run(file)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('3 records of cluster demo (topic kafka)'),
      stderr: '',
    });
    // Refuses flags that a replay would leave out: it plays what was recorded.
    for (const [flag, value] of [
      ['--quota', '5'],
      ['--per', 'user'],
      ['--system', 'equal'],
      ['--nodes', '3'],
    ]) {
      const refused = await run(file, flag, value);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain(`${flag} is for a CSV, and ${file} is a recording`);
    }
    expect(await run(file, '--nodes', '5')).toMatchObject({ code: 0 });
    const packed = `${file}.gz`;
    writeFileSync(packed, gzipSync(readFileSync(file)));
    expect(await run(packed)).toMatchObject({ code: 2, stderr: expect.stringContaining('"qmrec001", unpacked)') });
    writeFileSync(file, readFileSync(file).subarray(0, -20));
    const { code, stderr } = await run(file);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /a\.qmrec is damaged at byte \d+: the file ends within a frame; 2 records before it are replayed/,
    );
  });
});

describe.concurrent('quotamesh record', () => {
  it.for([
    ['no --out', [], 2, "required option '-o, --out <file>'"],
    ['a topic in memory', ['--out', 'x'], 2, 'topic kind memory lives inside one process'],
    ['a time that is none', ['--out', 'x', '--for', 'long'], 2, '--for must be a duration'],
  ] as const)('%s is refused', async ([, flags, code, message], { expect, onTestFinished }) => {
    const kind = flags[2] === '--for' ? 'embedded' : 'memory';
    const folder = new CliScene(onTestFinished).folderWith({
      'node.yaml': `cluster: demo\ntopic: ${kind}\ngroups: { orders: {} }\n`,
    });
    const result = await runInProcess(['record', '--config', `${folder}/node.yaml`, ...flags]);
    expect(result).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });
});

function run(...args: readonly string[]) {
  return runInProcess(['sim', 'replay', ...args]);
}
