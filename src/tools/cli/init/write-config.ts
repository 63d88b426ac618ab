import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { PACKAGE_ROOT } from '../../../base/package/package-root.js';
import { examineConfig } from '../../../config/read/resolve-config.js';
import { formatMistake } from '../../../config/setting/config-error.js';
import { mergeFiles } from '../../../config/yaml/merge-files.js';
import { parseYaml } from '../../../config/yaml/parse-yaml.js';
import { print } from '../../terminal/print.js';
import { DEFAULT_QUOTA, type FirstQuota, meetingOfFlags, NotUnderstood, quotaOf, quotaOfFlags } from './answers.js';
import { type Answers, answersText, configText } from './config-text.js';
import type { InitOptions } from './init-command.js';
import { DEFAULT_MEETING, MEETING_KINDS, MEETINGS, type Meeting, meetingOf } from './meetings.js';

export async function writeConfig(file: string, options: InitOptions, asked: Questioner = terminal()): Promise<void> {
  try {
    // Before anybody has answered in vain.
    if (options.force !== true && existsSync(file)) throw fileExists(file);
    const answers = await answersFor(options, asked);
    await write(file, configText(answers, schemaSeenFrom(file)), options.force === true);
    print(`${file} is written: ${answersText(answers)}.`, ...nextLines(file, answers));
  } finally {
    asked.close();
  }
}

async function answersFor(options: InitOptions, asked: Questioner): Promise<Answers> {
  const flags = byFlags(options);
  let answers: Answers = {
    cluster: options.cluster,
    meeting: flags.meeting ?? DEFAULT_MEETING,
    quota: flags.quota ?? DEFAULT_QUOTA,
  };
  const mistake = mistakeIn(answers);
  if (mistake !== null) throw usage(mistake);
  const questions = [...(flags.meeting === null ? [MEETING] : []), ...(flags.quota === null ? [QUOTA] : [])];
  if (options.yes === true || questions.length === 0) return answers;
  if (!asked.isTerminal) throw usage(NOBODY_TO_ASK);
  for (const question of questions) answers = await answered(question, answers, asked);
  return answers;
}

function byFlags(options: InitOptions): { readonly meeting: Meeting | null; readonly quota: FirstQuota | null } {
  try {
    return { meeting: meetingOfFlags(options), quota: quotaOfFlags(options) };
  } catch (error) {
    throw error instanceof NotUnderstood ? usage(error.message) : error;
  }
}

interface Question {
  readonly text: string;
  take(answers: Answers, answer: string): Answers;
}

const MEETING: Question = {
  text: `Where do the nodes meet?
${MEETING_KINDS.map((kind) => MEETINGS[kind].question)
  .map(([answer, meaning]) => `  ${answer.padEnd(26)}${meaning}\n`)
  .join('')}> `,
  take: (answers, answer) => ({ ...answers, meeting: meetingOf(answer) }),
};

const QUOTA: Question = {
  text: `Who has which quota?
  Enter                     the group orders, 1000/s
  NAME RATE                 a group: orders 1000/s, mail 300/min, uploads 1MiB/s
  key:{id} RATE             each API key, user or tenant: key:{id} 600/min
> `,
  take: (answers, answer) => ({ ...answers, quota: quotaOf(answer) }),
};

const MEETING_FLAGS = MEETING_KINDS.map((kind) => `--${kind}`).join(', ');
const NOBODY_TO_ASK = `without a terminal say --yes, or where the nodes meet (${MEETING_FLAGS}) and whose quota it is (--group, --key)`;

/** Puts a question until its answer fits a configuration. */
async function answered({ text, take }: Question, sofar: Answers, asked: Questioner): Promise<Answers> {
  for (let question = text; ; question = '> ') {
    const answer = await asked.ask(question);
    if (answer === null) throw usage('ended before the last answer: nothing is written');
    const [answers, mistake] = judged(take, sofar, answer);
    if (mistake === null) return answers;
    asked.say(`Not so: ${mistake}`);
  }
}

function judged(take: Question['take'], sofar: Answers, answer: string): readonly [Answers, string | null] {
  try {
    const answers = take(sofar, answer);
    return [answers, mistakeIn(answers)];
  } catch (error) {
    if (error instanceof NotUnderstood) return [sofar, error.message];
    throw error;
  }
}

/** Judges answers by the checks of every configuration. */
function mistakeIn(answers: Answers): string | null {
  const parsed = parseYaml(configText(answers, null));
  const { raw, locate, mistakes } = mergeFiles([{ file: 'init', parsed }]);
  const [first] = [...mistakes, ...examineConfig(raw, { source: 'init', locate }).mistakes];
  return first === undefined ? null : formatMistake({ ...first, line: null, file: '' }).replace(/^: /, '');
}

/** Returns the schema's path from the file; null = the package lies elsewhere, as with npx. */
function schemaSeenFrom(file: string): string | null {
  const schema = relative(dirname(resolve(file)), fileURLToPath(new URL('schema/node.schema.json', PACKAGE_ROOT)));
  return /^(\.\.\/)*node_modules\/quotamesh\//.test(schema) ? `./${schema}` : null;
}

async function write(file: string, text: string, replaces: boolean): Promise<void> {
  try {
    await writeFile(file, text, { flag: replaces ? 'w' : 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw fileExists(file);
    throw new QuotameshError('FILE_UNWRITABLE', { path: file, reason: message }, { cause: error });
  }
}

function nextLines(file: string, { meeting, quota }: Answers): readonly string[] {
  const group = quota.of === 'group' ? quota.name : quota.name.replace(/\{[^{}]*\}/g, 'alice');
  const amount = quota.dimension === 'messages' ? { messages: 1 } : { bytes: 1000 };
  const body = JSON.stringify({ group, ...amount });
  const { needs } = MEETINGS[meeting.kind];
  return [
    'Next:',
    ...(needs === undefined || isInstalled(needs) ? [] : [`  npm install ${needs}`]),
    `  npx quotamesh doctor ${file}`,
    `  npx quotamesh run --config ${file}`,
    `  curl -s -H 'content-type: application/json' -d '${body}' http://127.0.0.1:7070/v1/acquire`,
    '  npx quotamesh top',
  ];
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

function fileExists(path: string): QuotameshError {
  return new QuotameshError('FILE_EXISTS', { path });
}

function usage(reason: string): QuotameshError {
  return new QuotameshError('ASKED_WRONG', { reason, advice: 'See `quotamesh init --help`.' });
}

/** Puts questions; null = no answer will come any more. */
export interface Questioner {
  readonly isTerminal: boolean;
  ask(question: string): Promise<string | null>;
  say(line: string): void;
  close(): void;
}

/** Makes a questioner on standard error; standard output says what is written. */
export function terminal(
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean } = process.stdin,
  output: Writable = process.stderr,
): Questioner {
  const isTerminal = input.isTTY === true;
  const lines = isTerminal ? createInterface({ input, output }) : null;
  const gone = new Promise<null>((resolve) => lines?.once('close', () => resolve(null)));
  /** Lines that precede their question, as pasted ones do. */
  const early: string[] = [];
  lines?.on('line', (line) => early.push(line));
  return {
    isTerminal,
    ask: async (question) => {
      const answer = early.shift();
      if (answer === undefined) return Promise.race([lines?.question(question) ?? null, gone]);
      output.write(`${question}${answer}\n`);
      return answer;
    },
    say: (line) => void output.write(`${line}\n`),
    close: () => lines?.close(),
  };
}
