import { readFileSync } from 'node:fs';
import { PACKAGE_ROOT } from '../../src/base/package/package-root.js';

export interface Block {
  readonly language: string;
  readonly text: string;
  /** The file that the text before it names, as in "saved as `keeper.yaml`". */
  readonly file: string | null;
}

/** Ports of a page, by free ones of this machine that stand for them. */
export type Ports = Readonly<Record<string, number>>;

/** Commands that ask a node; without `--url` they ask port 7070. */
const ASKING = /^(quotamesh (?:audit|budget|explain|group|key|nodes|quota|status|top)\b[^\n|>#]*?)(?= *(?:[|>#]|$))/gm;

/**
 * The blocks of a page, or of one part of it, in their order.
 * @param page its path from the package's root
 * @param heading of the part, as `## Two brokers`; the part ends at the next one of that level
 */
export function blocksOf(page: string, ports: Ports = {}, heading?: string): readonly Block[] {
  const found = partOf(page, heading).matchAll(/((?:(?!```)[\s\S])*)```(\w+)\n([\s\S]*?)```/g);
  return [...found].map(([, before = '', language = '', text = '']) => {
    const file = /saved as `([\w.-]+)`/i.exec(before.split('\n\n').at(-2) ?? before)?.[1] ?? null;
    return { language, text: withPorts(text, ports), file };
  });
}

function partOf(page: string, heading: string | undefined): string {
  const whole = readFileSync(new URL(page, PACKAGE_ROOT), 'utf8');
  if (heading === undefined) return whole;
  const [, rest] = whole.split(`${heading}\n`);
  if (rest === undefined) throw new Error(`${page} has no "${heading}"`);
  return rest.split(`\n${heading.split(' ')[0]} `)[0];
}

/** Ports also where bash puts their last digit, as in `808{1,2}`; and said where a page relies on the default. */
function withPorts(text: string, ports: Ports): string {
  const whole = text.replaceAll(/\b(\d{3})\{(\d(?:,\d)*)\}/g, (_, first: string, last: string) => {
    return `{${last.split(',').map((digit) => `${first}${digit}`)}}`;
  });
  const asked = ports['7070'] === undefined ? whole : whole.replaceAll(ASKING, '$1 --url http://127.0.0.1:7070');
  return asked.replaceAll(/\b\d{4}\b/g, (digits) => String(ports[digits] ?? digits));
}
