import { QuotameshError } from '../../base/errors/quotamesh-error.js';

/** Tells one mistake, with all that is needed to mend it. */
export interface Mistake {
  /** Whatever says it: a file, `(inline)`, an environment variable, a command-line flag. */
  readonly file: string;
  /** Counted from 1; null where there are no lines. */
  readonly line: number | null;
  readonly column: number | null;
  /** `groups.orders.quota.publish.messagesPerSecond`; '' = the whole configuration. */
  readonly path: string;
  /** Predicate that follows the path: `must be a rate ≥ 0 (e.g. 1000 or 10k), got -5`. */
  readonly problem: string;
  readonly allowed: string;
  readonly remedy: string;
  /** Kind of the mistake, for programs. */
  readonly cause?: MistakeCause;
}

export interface Examined<Config> {
  /** null when there are mistakes. */
  readonly config: Config | null;
  readonly mistakes: readonly Mistake[];
}

export type MistakeCause =
  | 'key-unknown'
  | 'choice-unknown'
  | 'below-range'
  | 'above-range'
  | 'nearly-nothing'
  | 'reserved-above-quota';

type InvalidCode = 'CONFIG_INVALID' | 'RULES_INVALID';

/** Holds all mistakes of a configuration at once; of more than 200 the first. */
export class ConfigError extends QuotameshError {
  declare readonly code: InvalidCode;
  readonly mistakes: readonly Mistake[];
  readonly report: string;

  constructor(source: string, mistakes: readonly Mistake[], code: InvalidCode = 'CONFIG_INVALID') {
    super(code, { file: source, count: mistakes.length });
    this.name = 'ConfigError';
    this.mistakes = inOrder(mistakes);
    const more = mistakes.length < MISTAKES_MAX ? [] : ['… and perhaps more'];
    this.report = [...this.mistakes.map(formatMistake), ...more].join('\n');
    this.message = `${this.message}\n${this.report}`;
    // Node.js prints all enumerable properties of an uncaught error: these say what the message says.
    for (const said of ['mistakes', 'report']) Object.defineProperty(this, said, { enumerable: false });
  }
}

/** `node.yaml:12:7: groups.orders.strategy must be one of …, got "fair". Did you mean …?` */
export function formatMistake({ file, line, column, path, problem, remedy }: Mistake): string {
  const location = line === null ? file : `${file}:${line}:${column}`;
  return `${location}: ${path === '' ? 'the configuration' : path} ${problem}. ${remedy}`.trimEnd();
}

/** The first mistakes in one line, for an answer. */
export function mistakesText(mistakes: readonly Mistake[]): string {
  return mistakes.slice(0, MISTAKES_SHOWN).map(formatMistake).join(' ');
}

const MISTAKES_SHOWN = 20;

/** `['groups', 'a b', 'brokers', 1]` → `groups["a b"].brokers[1]`. */
export function formatPath(path: readonly (string | number)[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[\w-]{1,200}$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part.slice(0, 200))}]`;
  }
  return text;
}

/** Bounds mistakes: the first ones show what a generated file has wrong. Finding the lines of very many takes long. */
export const MISTAKES_MAX = 200;

function inOrder(mistakes: readonly Mistake[]): readonly Mistake[] {
  const fileOf = ({ line, file }: Mistake) => (line === null ? '' : file);
  return [...mistakes].sort((one, other) => {
    if (fileOf(one) !== fileOf(other)) return fileOf(one) < fileOf(other) ? -1 : 1;
    return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);
  });
}
