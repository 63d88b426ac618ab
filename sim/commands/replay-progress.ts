import { ReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';

/** The line is written anew at most this often. */
const EVERY_MS = 200;

export interface ReplayProgress {
  /** Rows so far, and the time of the file that they reach to. */
  played(rows: number, fileMs: number): void;
  /** Takes the line away. */
  end(): void;
}

/**
 * One line on standard error: rows, time of the file, part of the file, time left. The length of standard input is
 * unknown, so it has neither part nor time left.
 */
export function replayProgress(input: Readable, file: string, systems: number): ReplayProgress {
  const startedMs = performance.now();
  let shownMs = startedMs;
  const partRead = input instanceof ReadStream ? partReader(input, statSync(file).size) : () => null;
  return {
    played: (rows, fileMs) => {
      const nowMs = performance.now();
      if (nowMs - shownMs < EVERY_MS) return;
      shownMs = nowMs;
      const text = progressText({ rows, systems, fileMs, part: partRead(), elapsedMs: nowMs - startedMs });
      process.stderr.write(`\r${text}\u001b[K`);
    },
    end: () => process.stderr.write('\r\u001b[K'),
  };
}

function partReader(input: ReadStream, bytes: number): () => number {
  return () => Math.min(1, input.bytesRead / Math.max(1, bytes));
}

interface Progress {
  readonly rows: number;
  readonly systems: number;
  readonly fileMs: number;
  /** 0 … 1, or null where nobody knows. */
  readonly part: number | null;
  readonly elapsedMs: number;
}

/** `120000 rows on 6 systems, 41 min of the file, 63 %, 12 s left` */
export function progressText({ rows, systems, fileMs, part, elapsedMs }: Progress): string {
  const parts = [
    `${rows} rows on ${systems} ${systems === 1 ? 'system' : 'systems'}`,
    `${duration(fileMs)} of the file`,
  ];
  if (part !== null && part > 0) {
    parts.push(`${Math.floor(100 * part)} %`, `${duration((elapsedMs * (1 - part)) / part)} left`);
  }
  return parts.join(', ');
}

/** Two minutes of seconds, two hours of minutes. */
function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
