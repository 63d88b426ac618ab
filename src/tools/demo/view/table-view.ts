import type { WriteStream } from 'node:tty';
import { stripVTControlCharacters, styleText } from 'node:util';
import { textTable } from '../../terminal/text-table.js';
import { bar, kilobytes, withCommas } from './figures.js';
import type { Introduction, NodeRow, ViewFrame } from './frame.js';
import type { View } from './view.js';

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const CLEAR_TO_END = '\x1b[J';

/** Redraws the live view in place, four times a second; leaves what stood above. */
export class TableView implements View {
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
