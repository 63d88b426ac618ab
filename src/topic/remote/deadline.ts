/** A timer this late means that our own event loop slept, and the answer may lie unread in the socket's buffer. */
const STALL_MS = 200;
/** After a stall: time to read what has arrived meanwhile. */
const GRACE_MS = 250;

/** Settles as `work` does, or rejects with what `expire` returns after `timeoutMs` of the monotonic clock. */
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
