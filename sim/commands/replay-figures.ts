import { SHORT_UNIT } from '../../src/config/setting/quantity.js';
import type { WrittenRate } from '../../src/config/setting/written-rate.js';
import type { PageRun } from '../page/page-runs.js';

export function rate(value: number): string {
  if (value === Infinity) return 'unlimited';
  return value >= 100 ? whole(value) : String(Number(value.toPrecision(3)));
}

/** Writes `60 messages/min`. */
export function quotaText(of: 'messages' | 'bytes', told: WrittenRate | null): string {
  return told === null ? `unlimited ${of}/s` : `${rate(told.amount)} ${of}/${SHORT_UNIT[told.per]}`;
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
