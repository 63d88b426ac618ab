import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { showSent } from '../../base/input/input-mistakes.js';

/**
 * Calls what an embedder has written: what it throws must not end the step of the node that called it. An async
 * function fits every callback, too; its rejection would end the process.
 */
export function callEmbedder(call: () => unknown, failed: (reason: string) => void): void {
  const tell = (cause: unknown) => failed(cause instanceof Error ? cause.message : showSent(cause));
  try {
    const answer = call();
    if (isThenable(answer)) Promise.resolve(answer).catch(tell);
  } catch (error) {
    tell(error);
  }
}

/** To standard error, or to the process's listeners for warnings: the embedder's log may be what has failed. */
export function warnEmbedder(...error: ConstructorParameters<typeof QuotameshError>): void {
  const { code, message, remedy } = new QuotameshError(...error);
  process.emitWarning(`${message}. ${remedy}`, { type: 'QuotameshWarning', code });
}

function isThenable(answer: unknown): answer is PromiseLike<unknown> {
  return typeof (answer as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
