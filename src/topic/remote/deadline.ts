/** Milliseconds; a later timer means that our event loop slept, with answers unread. */
const STALL_MS = 200;
/** Milliseconds after a stall to read what has arrived. */
const GRACE_MS = 250;

/** Settles as `work`, or rejects with `expire()` after `timeoutMs`. The clock is monotonic. */
export function withDeadline<T>(work: Promise<T>, timeoutMs: number, expire: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const dueAt = performance.now() + timeoutMs;
    const expired = () => reject(expire());
    let timer = setTimeout(() => {
      if (performance.now() - dueAt < STALL_MS) expired();
      else timer = setTimeout(expired, GRACE_MS);
    }, timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
