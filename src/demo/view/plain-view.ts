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

  end(): void {}
}

const LEGEND = 'per node: demand → admitted (refused, share), in messages/s; then the cluster against its quota';

export function plainLine(elapsedSeconds: number, { rows, admitted, quota, lastRebalancingMs }: Frame): string {
  const nodes = rows.map(nodeText).join('  ');
  const messages = `${count(admitted[0])}/${count(quota[0])} msg/s`;
  const bytes = `${count(admitted[1] / 1000)}/${kilobytes(quota[1])}/s`;
  return `${elapsedSeconds} s  ${nodes}  |  ${messages}  ${bytes}  rebalanced in ${Math.round(lastRebalancingMs)} ms`;
}

function nodeText({ id, isRunning, demand, admitted, refused, share }: NodeRow): string {
  if (!isRunning) return `${id} dead`;
  const shareText = share === null ? '-' : count(share);
  return `${id} ${count(demand)} → ${count(admitted)} (${count(refused)}, ${shareText})`;
}
