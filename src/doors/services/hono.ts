import type { Context, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { QuotaNode } from '../../node/api/quota-node.js';
import { admissionOf, PROBLEM_TYPE, type QuotaOptions } from './admission.js';

export type { QuotaOptions };

/** `app.use(quota(node, { group: 'orders' }))`; `refusal: 'framework'` throws Hono's HTTPException. */
export function quota(node: QuotaNode, options: QuotaOptions<Context>): MiddlewareHandler {
  const admit = admissionOf(node, options);
  return async (context, next) => {
    const asked = admit(context, context.req.raw.signal);
    const admission = asked instanceof Promise ? await asked : asked;
    // Finalized by a middleware around this one, such as Hono's timeout, or nobody reads it.
    if (admission === null || (asked instanceof Promise && context.finalized)) return new Response(null);
    const { headers, refusal } = admission;
    if (refusal !== null) return refused();
    await next();
    // Afterwards, because a handler that returns a Response of its own drops what was set before.
    addHeaders(context, headers);

    function refused(): Response {
      const { status, problem } = refusal as NonNullable<typeof refusal>;
      if (options.refusal !== 'framework') {
        return new Response(JSON.stringify(problem), { status, headers: { ...headers, 'content-type': PROBLEM_TYPE } });
      }
      const res = new Response(problem.detail ?? '', { status, headers });
      throw new HTTPException(status as 429, { res, message: problem.detail ?? '' });
    }
  };
}

/** Responses of fetch() and Response.redirect() keep their headers as they are, so they are copied with them. */
function addHeaders(context: Context, headers: Readonly<Record<string, string>>): void {
  const given = context.res;
  try {
    for (const [name, value] of Object.entries(headers)) given.headers.set(name, value);
  } catch {
    const copy = copied(given, headers);
    if (copy === null) return;
    // Else Hono would set each header of the one before in the other.
    context.res = undefined;
    context.res = copy;
  }
}

/** Null = it cannot be copied: 101 and Response.error(), or its body is read already. */
function copied(given: Response, headers: Readonly<Record<string, string>>): Response | null {
  try {
    const copy = new Response(given.body, given);
    for (const [name, value] of Object.entries(headers)) copy.headers.set(name, value);
    return copy;
  } catch {
    return null;
  }
}
