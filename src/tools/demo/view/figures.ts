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
