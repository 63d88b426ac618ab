/** The longest time that the event loop was away beyond a 5 ms timer. */
export function watchLag() {
  let last = performance.now();
  let worstMs = 0;
  const tick = () => {
    const now = performance.now();
    worstMs = Math.max(worstMs, now - last - 5);
    last = now;
  };
  const timer = setInterval(tick, 5);
  return {
    stop() {
      clearInterval(timer);
      tick();
      return worstMs;
    },
  };
}
