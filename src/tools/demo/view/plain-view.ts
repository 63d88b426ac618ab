import { count, kilobytes } from './figures.js';
import type { Frame, Introduction, NodeRow } from './frame.js';
import type { View } from './view.js';

/** For files and pipes: one line per second. */
export class PlainView implements View {
  readonly #out: NodeJS.WritableStream;
  #shownSeconds = 0;

  constructor(out: NodeJS.WritableStream, { headline, hints }: Introduction) {
    this.#out = out;
    out.write(`${[headline, ...hints, LEGEND].join('\n')}\n`);
  }

  show(frame: Frame): void {
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

export function plainLine(elapsedSeconds: number, { rows, admitted, quota }: Frame): string {
  const nodes = rows.map(nodeText).join('  ');
  const messages = `all ${count(admitted[0])}, quota ${count(quota[0])}`;
  const bytes = Number.isFinite(quota[1]) ? `  ${count(admitted[1] / 1000)} of ${kilobytes(quota[1])}` : '';
  return `${elapsedSeconds} s  ${nodes}  |  ${messages}${bytes}`;
}

function nodeText({ id, state, demand, admitted }: NodeRow): string {
  return state === 'ready' ? `${id} ${count(admitted)} of ${count(demand)}` : `${id} ${state}`;
}
