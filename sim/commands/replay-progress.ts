import { ReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';

/** Milliseconds between updates of the line. */
const EVERY_MS = 200;

/** Writes one line on standard error: rows, file time, part, time left; the last two not of standard input. */
export function replayProgress(input: Readable, file: string, systems: number) {
  const startedMs = performance.now();
  let shownMs = startedMs;
  const bytes = input instanceof ReadStream ? Math.max(1, statSync(file).size) : 0;
  const partRead = () => (input instanceof ReadStream ? Math.min(1, input.bytesRead / bytes) : null);
  return {
    /** Shows rows, and the file time they reach. */
    played: (rows: number, fileMs: number) => {
      const nowMs = performance.now();
      if (nowMs - shownMs < EVERY_MS) return;
      shownMs = nowMs;
      const text = progressText({ rows, systems, fileMs, part: partRead(), elapsedMs: nowMs - startedMs });
      process.stderr.write(`\r${text}\u001b[K`);
    },
    end: () => process.stderr.write('\r\u001b[K'),
  };
}

interface Progress {
  readonly rows: number;
  readonly systems: number;
  readonly fileMs: number;
  /** 0 … 1; null = unknown. */
  readonly part: number | null;
  readonly elapsedMs: number;
}

/** Writes rows and systems, time, part and rest: `120000 rows on 6 systems, 41 min of the file, 63 %, 12 s left`. */
export function progressText({ rows, systems, fileMs, part, elapsedMs }: Progress): string {
  const played = `${rows} rows on ${systems} ${systems === 1 ? 'system' : 'systems'}`;
  const parts = [played, `${duration(fileMs)} of the file`];
  if (part !== null && part > 0) {
    parts.push(`${Math.floor(100 * part)} %`, `${duration((elapsedMs * (1 - part)) / part)} left`);
  }
  return parts.join(', ');
}

/** Writes a duration: up to two minutes in seconds, two hours in minutes. */
function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
