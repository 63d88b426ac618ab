import type { Context, Middleware } from 'koa';
import type { QuotaNode } from '../../node/api/quota-node.js';
import { admissionOf, PROBLEM_TYPE, type QuotaOptions, QuotaRefusedError } from './admission.js';

export { type QuotaOptions, QuotaRefusedError };

/** Limits by `app.use(quota(node, { group: 'orders' }))`. */
export function quota(node: QuotaNode, options: QuotaOptions<Context>): Middleware {
  const admit = admissionOf(node, options);
  return async (context, next) => {
    const asked = admit(context, context.res);
    const admission = asked instanceof Promise ? await asked : asked;
    if (admission === null) {
      // Else Koa ends the response that somebody else has begun.
      context.respond = false;
      return;
    }
    const { headers, refusal } = admission;
    context.set(headers);
    if (refusal === null) return next().catch((error) => rethrow(error, context, headers));
    if (options.refusal === 'framework' || context.headerSent) throw new QuotaRefusedError(refusal, headers);
    context.status = refusal.status;
    context.type = PROBLEM_TYPE;
    context.body = JSON.stringify(refusal.problem);
  };
}

/** Puts headers of a granted request into an error: Koa answers an error with the error's headers alone. */
function rethrow(error: unknown, context: Context, headers: Readonly<Record<string, string>>): never {
  const told = Object.keys(headers).map((name) => [name, context.response.get(name)]);
  // The response's, because an inner quota may have set them anew.
  if (error instanceof Error) {
    const carried = { ...(error as { headers?: object }).headers, ...Object.fromEntries(told) };
    // Never throws, where an error is frozen.
    Reflect.set(error, 'headers', carried);
  }
  throw error;
}
