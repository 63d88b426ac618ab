import type { RecommendPlay } from '../recommend/recommend.js';

export interface RecommendProgress {
  played(play: RecommendPlay): void;
  /** Takes the line away. */
  end(): void;
}

/** Writes the first line after so long, and each later one after LATER times as long as the one before it. */
const FIRST_MS = 2000;
const LATER = 1.5;

/**
 * Writes to standard error which play is under way. A terminal has one line that is written over; elsewhere some twenty
 * lines an hour show that a job is alive.
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
