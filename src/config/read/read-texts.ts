import { resolve } from 'node:path';
import { isMapping } from '../../base/input/mapping.js';
import { fieldsOf } from '../../base/input/schema-parts.js';
import type { ConfigPath, Findings } from '../setting/findings.js';
import { factsOf, type Section } from '../setting/section.js';
import { PEM, type Sound, type TextsRead } from '../setting/text-file.js';

export interface FileContext {
  /** Start of relative paths. */
  readonly folder: string;
  readonly readFile: (path: string, bytesMax: number) => string;
}

interface ReadTexts<Value> {
  readonly read: Sound<TextsRead<Value>>;
  /** Absolute. */
  readonly files: readonly string[];
}

const TEXT_BYTES_MAX = 65_536;
/** Begins a PEM text; without it Node.js takes a text for no authority, and trusts nobody. */
const PEM_BEGIN = '-----BEGIN ';

/** Puts a file's text in place of every `{ file: PATH }`. */
export function readTexts<Value>(
  schema: Section<Value>,
  read: Sound<Value>,
  at: ConfigPath,
  findings: Findings,
  context: FileContext,
): ReadTexts<Value> {
  const texts: Record<string, unknown> = { ...(read as Readonly<Record<string, unknown>>) };
  const files: string[] = [];
  for (const [key, member] of Object.entries(fieldsOf(schema))) {
    const value = texts[key];
    const facts = factsOf(member);
    if (facts === undefined) {
      if (!isMapping(value)) continue;
      const below = readTexts(member, value, [...at, key], findings, context);
      texts[key] = below.read;
      files.push(...below.files);
      continue;
    }
    if (isMapping(value) && typeof value.file === 'string') {
      const file = resolve(context.folder, value.file);
      files.push(file);
      texts[key] = textIn(file, [...at, key, 'file'], findings, context);
    }
    const text = texts[key];
    if (facts.isPem === true && typeof text === 'string' && !text.includes(PEM_BEGIN)) {
      findings.add([...at, key], {
        problem: 'is no PEM',
        allowed: `a text with a line ${PEM_BEGIN}…`,
        remedy: PEM.remedy,
      });
    }
  }
  return { read: texts as Sound<TextsRead<Value>>, files };
}

/** undefined where it cannot be read. */
function textIn(file: string, path: ConfigPath, findings: Findings, { readFile }: FileContext): string | undefined {
  try {
    // Editors and `echo` end a file with a newline that is no part of a password.
    const text = readFile(file, TEXT_BYTES_MAX).replace(/\r?\n$/, '');
    if (text === '') throw new Error('it is empty');
    return text;
  } catch (error) {
    const problem = `cannot be read: ${(error as Error).message}`;
    const allowed = 'the path of a text file of at most 64 KiB';
    findings.add(path, { problem, allowed, remedy: 'Check the path and its permissions.' });
    return undefined;
  }
}
