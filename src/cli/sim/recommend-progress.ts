import type { RecommendPlay } from '../../../sim/recommend/recommend.js';

export interface RecommendProgress {
  played(play: RecommendPlay): void;
  /** Takes the line away. */
  end(): void;
}

/** Where lines are kept, one comes this long after the begin, and each further one half of the time until then later. */
const FIRST_MS = 2000;
const LATER = 1.5;

/**
 * Tells which play is under way, on standard error. On a terminal it is one line that is written over; elsewhere some
 * twenty lines an hour, so that a log of a job shows that it is alive.
 */
export function recommendProgress(
  isTerminal: boolean,
  write: (text: string) => void = (text) => process.stderr.write(text),
  clock: () => number = () => performance.now(),
): RecommendProgress {
  const begunMs = clock();
  let [plays, nextMs] = [0, FIRST_MS];
  return {
    played: ({ depth, perSecond, burst, bursts }) => {
      plays++;
      const elapsedMs = clock() - begunMs;
      const text = `play ${plays}: burst ${burst} of ${bursts}, ${depth} at ${perSecond}/s`;
      if (isTerminal) write(`\r\u001b[K${text} …\r`);
      else if (elapsedMs >= nextMs) {
        write(`quotamesh: ${text}, ${Math.round(elapsedMs / 1000)} s so far\n`);
        nextMs = elapsedMs * LATER;
      }
    },
    end: () => {
      if (isTerminal) write('\r\u001b[K');
    },
  };
}
