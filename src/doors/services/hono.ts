import type { Context, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { QuotaNode } from '../../node/api/quota-node.js';
import { admissionOf, PROBLEM_TYPE, type QuotaOptions } from './admission.js';

export type { QuotaOptions };

/** Limits by `app.use(quota(node, { group: 'orders' }))`; `refusal: 'framework'` throws Hono's HTTPException. */
export function quota(node: QuotaNode, options: QuotaOptions<Context>): MiddlewareHandler {
  const admit = admissionOf(node, options);
  return async (context, next) => {
    const asked = admit(context, context.req.raw.signal);
    const admission = asked instanceof Promise ? await asked : asked;
    // An outer middleware, such as Hono's timeout, has answered, or nobody reads.
    if (admission === null || (asked instanceof Promise && context.finalized)) return new Response(null);
    const { headers, refusal } = admission;
    if (refusal === null) {
      await next();
      // Afterwards, because a handler's own Response drops earlier headers.
      addHeaders(context, headers);
      return;
    }
    const { status, problem } = refusal;
    if (options.refusal !== 'framework') {
      return new Response(JSON.stringify(problem), { status, headers: { ...headers, 'content-type': PROBLEM_TYPE } });
    }
    const res = new Response(problem.detail ?? '', { status, headers });
    throw new HTTPException(status as 429, { res, message: problem.detail ?? '' });
  };
}

/** Adds headers, to a copy where they are immutable: of fetch() and Response.redirect(). */
function addHeaders(context: Context, headers: Readonly<Record<string, string>>): void {
  const given = context.res;
  try {
    for (const [name, value] of Object.entries(headers)) given.headers.set(name, value);
  } catch {
    const copy = copied(given, headers);
    if (copy === null) return;
    // Else Hono would set the old one's headers in the new one.
    context.res = undefined;
    context.res = copy;
  }
}

/** Copies a response; null = 101, Response.error(), or a body that is read. */
function copied(given: Response, headers: Readonly<Record<string, string>>): Response | null {
  try {
    const copy = new Response(given.body, given);
    for (const [name, value] of Object.entries(headers)) copy.headers.set(name, value);
    return copy;
  } catch {
    return null;
  }
}
