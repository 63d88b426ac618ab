/** Local monotonic time in milliseconds. Never goes back; stands still for nobody; comparable only within the process. */
export type Clock = () => number;

export const monotonicClock: Clock = () => performance.now();
