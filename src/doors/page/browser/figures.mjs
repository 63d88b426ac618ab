/** Formats numbers for people. Nothing here touches the page. */

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });
const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** As in `1,234`, `12.3`, `1.25 M`; null = unlimited. */
export function rate(value) {
  if (value === null || value === undefined) return '∞';
  if (value < 0) return `−${rate(-value)}`;
  if (value >= 1e6) return scaled(value);
  return value >= 100 ? whole.format(value) : tenths.format(value);
}

/** Shorter than `rate`, for axes: `1k`, `2.5M`. */
export function tick(value) {
  if (value < 0) return `−${tick(-value)}`;
  return value >= 10_000 ? scaled(value).replace(' ', '') : fine.format(value);
}

function scaled(value) {
  const [divisor, unit] = value >= 1e9 ? [1e9, 'G'] : value >= 1e6 ? [1e6, 'M'] : [1e3, 'k'];
  return `${fine.format(value / divisor)} ${unit}`;
}

/**
 * Seconds since the start, with no more digits than the samples have. With `since`, which a trace has whose rows have
 * dates, it is the time by the clock of the trace, in UTC, and with the day where `since.hasDays`.
 */
export function clock(seconds, sampleMs, since = null) {
  if (since === null) return `${seconds.toFixed(sampleMs % 1000 === 0 ? 0 : sampleMs % 100 === 0 ? 1 : 2)} s`;
  const text = new Date(since.begunMs + seconds * 1000).toISOString().slice(5, sampleMs % 1000 === 0 ? 19 : 21);
  return since.hasDays ? text.replace('T', ' ') : text.slice('11-16T'.length);
}

/** The mean of each sample and those before it, `window` in all. */
export function trailingMean(column, window) {
  if (window <= 1) return column;
  let total = 0;
  return column.map((value, at) => {
    total += value;
    if (at >= window) total -= column[at - window];
    // Sums that return to zero keep a rounding error, which may be below it.
    return Math.max(0, total) / Math.min(at + 1, window);
  });
}

export function largest(columns) {
  let most = 0;
  for (const column of columns) for (const value of column) if (value !== null && value > most) most = value;
  return most;
}
