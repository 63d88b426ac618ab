import { readFileSync } from 'node:fs';

const FILE = '/proc/pressure/cpu';

/** Microseconds in which somebody on this machine waited for a core, since it was started; null where the kernel does not tell. */
export function waitedForCoreUs(): number | null {
  try {
    const total = /some .*total=(\d+)/.exec(readFileSync(FILE, 'utf8'))?.[1];
    return total === undefined ? null : Number(total);
  } catch {
    return null;
  }
}

/** The part of the time since then in which somebody waited for a core. */
export function waitedPart(sinceUs: number | null, durationMs: number): number | null {
  const nowUs = waitedForCoreUs();
  return sinceUs === null || nowUs === null ? null : (nowUs - sinceUs) / 1000 / durationMs;
}
