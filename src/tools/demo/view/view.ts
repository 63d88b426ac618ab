import type { WriteStream } from 'node:tty';
import { stripVTControlCharacters, styleText } from 'node:util';
import type { Rates } from '../../../core/base/vocabulary.js';
import { textTable } from '../../terminal/text-table.js';

export interface View {
  show(frame: ViewFrame): void;
  /** Writes lines that stay. */
  tell(lines: readonly string[]): void;
  /** Leaves the terminal as it was found. */
  end(): void;
}

/** Draws in place on a terminal, else (or on request) plain lines. */
export function createView(introduction: Introduction, plain: boolean): View {
  const out = process.stdout;
  return out.isTTY && !plain ? new TableView(out, introduction) : new PlainView(out, introduction);
}

class PlainView implements View {
  readonly #out: NodeJS.WritableStream;
  #shownSeconds = 0;

  constructor(out: NodeJS.WritableStream, { headline, hints }: Introduction) {
    this.#out = out;
    out.write(`${[headline, ...hints, LEGEND].join('\n')}\n`);
  }

  show(frame: ViewFrame): void {
    const elapsedSeconds = Math.floor(frame.elapsedMs / 1000);
    if (elapsedSeconds <= this.#shownSeconds) return;
    this.#shownSeconds = elapsedSeconds;
    this.#out.write(`${plainLine(elapsedSeconds, frame)}\n`);
  }

  tell(lines: readonly string[]): void {
    this.#out.write(`${lines.join('\n')}\n`);
  }

  end(): void {}
}

const LEGEND = 'per node: admitted of what was wanted, in the last second; then all nodes, and their quota per second';

export function plainLine(elapsedSeconds: number, { rows, admitted, quota }: ViewFrame): string {
  const nodes = rows.map(nodeText).join('  ');
  const messages = `all ${withCommas(admitted[0])}, quota ${withCommas(quota[0])}`;
  const bytes = Number.isFinite(quota[1]) ? `  ${withCommas(admitted[1] / 1000)} of ${kilobytes(quota[1])}` : '';
  return `${elapsedSeconds} s  ${nodes}  |  ${messages}${bytes}`;
}

function nodeText({ id, state, demand, admitted }: NodeRow): string {
  return state === 'ready' ? `${id} ${withCommas(admitted)} of ${withCommas(demand)}` : `${id} ${state}`;
}

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const CLEAR_TO_END = '\x1b[J';

/** Redraws the live view in place, four times a second; leaves what stood above. */
class TableView implements View {
  readonly #out: WriteStream;
  readonly #introduction: Introduction;
  #linesDrawn = 0;

  constructor(out: WriteStream, introduction: Introduction) {
    this.#out = out;
    this.#introduction = introduction;
    // Once, above the redrawn part: commands to copy must not be cut.
    out.write(`${introduction.hints.join('\n')}\n\n${HIDE_CURSOR}`);
  }

  show(frame: ViewFrame): void {
    const lines = frameLines(frame, this.#introduction).map((line) => cut(line, this.#out.columns));
    // Higher frames cannot be redrawn in place.
    const visible = lines.slice(0, Math.max(1, this.#out.rows - 1));
    this.#out.write(`${this.#backToTop()}${visible.join('\n')}\n`);
    this.#linesDrawn = visible.length;
  }

  tell(lines: readonly string[]): void {
    this.#out.write(`${this.#backToTop()}${lines.join('\n')}\n\n`);
    this.#linesDrawn = 0;
  }

  end(): void {
    this.#out.write(SHOW_CURSOR);
  }

  #backToTop(): string {
    return this.#linesDrawn === 0 ? CLEAR_TO_END : `\x1b[${this.#linesDrawn}A\r${CLEAR_TO_END}`;
  }
}

export function frameLines(frame: ViewFrame, { headline, forMs }: Introduction): string[] {
  const clock = `${seconds(frame.elapsedMs)}${forMs === null ? '' : ` of ${seconds(forMs)}`}`;
  const [head, ...rows] = textTable(HEAD, frame.rows.map(cells), HEAD.slice(1));
  const [messages, bytes] = frame.quota;
  return [
    `${styleText('bold', frame.act ?? headline)}  ${clock}`,
    '',
    styleText('dim', head ?? ''),
    ...rows.map((row, at) => (frame.rows[at].state === 'dead' ? styleText('red', row) : row)),
    '',
    `messages  ${bar(frame.admitted[0] / messages)}  ${withCommas(frame.admitted[0])} of ${withCommas(messages)} per second`,
    ...(Number.isFinite(bytes)
      ? [
          `bytes     ${bar(frame.admitted[1] / bytes)}  ${kilobytes(frame.admitted[1])} of ${kilobytes(bytes)} per second`,
        ]
      : []),
  ];
}

/** Columns of the last second: wanted = admitted + gave up + waiting. */
const HEAD = ['node', 'wanted', 'admitted', 'gave up', 'waiting'];

function cells({ id, state, demand, admitted, gaveUp, waiting }: NodeRow): string[] {
  if (state !== 'ready') return [id, state, '', '', ''];
  return [id, withCommas(demand), withCommas(admitted), withCommas(gaveUp), withCommas(waiting)];
}

/** Cuts lines that would wrap and break the redrawing. */
function cut(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line);
  return plain.length <= columns ? line : plain.slice(0, columns);
}

function seconds(valueMs: number): string {
  return `${Math.floor(valueMs / 1000)} s`;
}

const BAR_WIDTH = 30;

/** Draws a part of the quota as a bar, without its excess. */
export function bar(part: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, part)) * BAR_WIDTH);
  return '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
}

export function withCommas(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Formats kilobytes; k = 1,000. */
export function kilobytes(value: number): string {
  return `${withCommas(value / 1000)} kB`;
}

export function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}

export interface NodeRow {
  readonly id: string;
  readonly state: 'ready' | 'starting' | 'dead';
  /** Arrived in the second + waiting when it began. */
  readonly demand: number;
  readonly admitted: number;
  /** Not admitted in time. */
  readonly gaveUp: number;
  readonly waiting: number;
}

/** Last second, for the live view. */
export interface ViewFrame {
  readonly elapsedMs: number;
  readonly rows: readonly NodeRow[];
  readonly quota: Rates;
  readonly admitted: Rates;
  /** Headline of the moment; null = that of the introduction. */
  readonly act: string | null;
}

/** Constants of the view. */
interface Introduction {
  readonly headline: string;
  /** Null = until Ctrl-C. */
  readonly forMs: number | null;
  readonly hints: readonly string[];
}
