import { ERROR_CATALOGUE, type ErrorCode } from './catalogue.js';
import { type ErrorRow, EXIT_UNEXPECTED } from './error-row.js';
import { escaped, printable } from './printable.js';

export type ErrorFacts = Readonly<Record<string, string | number | undefined>>;

export class QuotameshError extends Error {
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, facts: ErrorFacts = {}, options?: { readonly cause?: unknown }) {
    super(fill(ERROR_CATALOGUE[code].message, facts), options);
    this.name = 'QuotameshError';
    this.code = code;
    this.facts = facts;
  }

  get remedy(): string {
    return fill(ERROR_CATALOGUE[this.code].remedy, this.facts);
  }

  /** Message and remedy, as one text. */
  get advice(): string {
    return `${this.message.replace(/\.$/, '')}. ${this.remedy}`;
  }

  get httpStatus(): number {
    return (ERROR_CATALOGUE[this.code] as ErrorRow).httpStatus ?? 500;
  }

  get exitCode(): number {
    return (ERROR_CATALOGUE[this.code] as ErrorRow).exitCode ?? EXIT_UNEXPECTED;
  }
}

function fill(template: string, facts: ErrorFacts): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = String(facts[name] ?? '');
    if (LINES.has(name)) return text.split('\n').map(printable).join('\n');
    if (!NAMES.has(name)) return printable(text);
    return facts[name] === '' ? '""' : printable(text).replace(UNSEEN, escaped);
  });
}

/** Matches invisible blanks: at a name's ends, and those that are no spaces. */
const UNSEEN = /^ | $|[^\P{Zs} ]/gu;

const NAMES: ReadonlySet<string> = new Set(['group', 'key']);
/** Facts of several lines. */
const LINES: ReadonlySet<string> = new Set(['log']);

/** Returns what a caught value says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
