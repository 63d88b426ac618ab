import { medianOf } from '../../src/tools/load/quantile.js';

/** One number per turn. */
export type Sample = readonly number[];

export function printHead(what: string): void {
  console.log(`\n${what.padEnd(WIDTH)}${['min', 'median', 'max'].map((word) => word.padStart(10)).join('')}`);
}

export function printSample(name: string, sample: Sample, digits = 1): void {
  const shown = [Math.min(...sample), medianOf(sample), Math.max(...sample)];
  console.log(name.padEnd(WIDTH) + shown.map((figure) => figure.toFixed(digits).padStart(10)).join(''));
}

/** Turn by turn, so that a slow stretch of the machine is in both. */
export function paired(one: Sample, other: Sample, combine: (one: number, other: number) => number): number[] {
  return one.map((figure, turn) => combine(figure, other[turn]));
}

export function printAim(aim: string, figure: number, isMet: boolean, digits = 1): void {
  console.log(aimLine(aim, figure, isMet, digits));
}

export function aimLine(aim: string, figure: number, isMet: boolean, digits = 1): string {
  const verdict = isMeasured(figure) ? (isMet ? 'met' : 'missed') : 'not measurable here';
  return `${aim.padEnd(WIDTH)}${figure.toFixed(digits).padStart(10)}  ${verdict}`;
}

export function bytesLine(name: string, bytes: number): string {
  return name.padEnd(WIDTH) + (isMeasured(bytes) ? bytes.toFixed(1) : 'not measurable').padStart(20);
}

/** Nothing takes less than no time and no memory: such a difference is smaller than the noise of the machine. */
function isMeasured(figure: number): boolean {
  return figure >= 0;
}

const WIDTH = 66;
