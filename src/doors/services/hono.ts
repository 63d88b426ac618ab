import type { Context, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { QuotaNode } from '../../node/api/quota-node.js';
import { admissionOf, PROBLEM_TYPE, type QuotaOptions, type WatchedResponse } from './admission.js';

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
      await endedWith(context, next, admission.release);
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

/** Runs the rest; gives a slot back at the end of its response. */
async function endedWith(context: Context, next: () => Promise<void>, release?: () => void): Promise<void> {
  if (release === undefined) return next();
  const outgoing = (context.env as { outgoing?: WatchedResponse } | undefined)?.outgoing;
  outgoing?.once('finish', release);
  outgoing?.once('close', release);
  try {
    await next();
  } catch (error) {
    release();
    throw error;
  }
  if (outgoing !== undefined) return;
  const { body } = context.res;
  if (body === null) return release();
  const given = context.res;
  context.res = undefined;
  context.res = new Response(read(body, release), given);
}

/** Passes a body on, and tells when nobody reads it any more. */
function read(body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      ended();
    },
    cancel(reason) {
      ended();
      return reader.cancel(reason);
    },
  });
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
