import type { PageRun } from '../../../sim/page/page-runs.js';

export function rate(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return 'unlimited';
  return value >= 100 ? whole(value) : String(Number(value.toPrecision(3)));
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(1)} %`;
}

export function seconds(run: PageRun | undefined): string {
  return `${((run?.durationMs ?? 0) / 1000).toFixed(1)} s`;
}

export function lines(text: readonly string[]): string {
  return `${text.join('\n')}\n`;
}
