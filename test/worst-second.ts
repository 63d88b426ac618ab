/** The most times in any second. @param times in ms, in their order */
export function worstSecond(times: readonly number[]): number {
  let [first, worst] = [0, 0];
  for (const [at, time] of times.entries()) {
    while (time - times[first] >= 1000) first++;
    worst = Math.max(worst, at - first + 1);
  }
  return worst;
}
