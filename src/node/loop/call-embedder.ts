import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { showSent } from '../../base/input/input-mistakes.js';

/** Calls an embedder's function; its error, or rejection, does not end the step. */
export function callEmbedder(call: () => unknown, failed: (reason: string) => void): void {
  const tell = (cause: unknown) => failed(cause instanceof Error ? cause.message : showSent(cause));
  try {
    const answer = call();
    if (isThenable(answer)) Promise.resolve(answer).catch(tell);
  } catch (error) {
    tell(error);
  }
}

/** Warns on the process: the embedder's log may be what failed. */
export function warnEmbedder(...error: ConstructorParameters<typeof QuotameshError>): void {
  const { code, advice } = new QuotameshError(...error);
  process.emitWarning(advice, { type: 'QuotameshWarning', code });
}

function isThenable(answer: unknown): answer is PromiseLike<unknown> {
  return typeof (answer as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
