import type { RecommendPlay } from '../recommend/recommend.js';

/** Milliseconds to the first line; later ones LATER times as long each. */
const FIRST_MS = 2000;
const LATER = 1.5;

/** Shows the current play on standard error: one line on a terminal, else some twenty an hour. */
export function recommendProgress(
  isTerminal: boolean,
  write: (text: string) => void = (text) => process.stderr.write(text),
  clock: () => number = () => performance.now(),
) {
  const begunMs = clock();
  let [plays, nextMs] = [0, FIRST_MS];
  return {
    played: ({ depth, perSecond, burst, bursts }: RecommendPlay) => {
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
