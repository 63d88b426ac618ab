import type { Context, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { QuotaNode } from '../api/quota-node.js';
import { admissionOf, PROBLEM_TYPE, type QuotaOptions } from './admission.js';

export type { QuotaOptions };

/** `app.use(quota(node, { group: 'orders' }))`; `refusal: 'framework'` throws Hono's HTTPException. */
export function quota(node: QuotaNode, options: QuotaOptions<Context>): MiddlewareHandler {
  const admit = admissionOf(node, options);
  return async (context, next) => {
    const asked = admit(context, context.req.raw.signal);
    const { headers, refusal } = asked instanceof Promise ? await asked : asked;
    if (refusal !== null) return refused();
    await next();
    // Afterwards, because a handler that returns a Response of its own drops what was set before.
    for (const [name, value] of Object.entries(headers)) context.header(name, value);

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
