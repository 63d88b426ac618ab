import { kilobytes, withCommas } from './figures.js';
import type { Introduction, NodeRow, ViewFrame } from './frame.js';
import type { View } from './view.js';

export class PlainView implements View {
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
