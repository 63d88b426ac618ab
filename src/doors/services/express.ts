import type { Request, RequestHandler } from 'express';
import type { QuotaNode } from '../../node/api/quota-node.js';
import { type Admission, admissionOf, PROBLEM_TYPE, type QuotaOptions, QuotaRefusedError } from './admission.js';

export { type QuotaOptions, QuotaRefusedError };

/**
 * Limits by `app.use(quota(node, { group: 'orders' }))`, of an app, a router or a route. Needs Node's request and
 * response alone: Connect, Polka, Restify and h3 can call it too.
 */
export function quota(node: QuotaNode, options: QuotaOptions<Request>): RequestHandler {
  const admit = admissionOf(node, options);
  return (request, response, next) => {
    const answer = (admission: Admission | null) => {
      if (admission === null) return;
      const { headers, refusal } = admission;
      if (!response.headersSent) for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if (refusal === null) next();
      else if (options.refusal === 'framework' || response.headersSent) next(new QuotaRefusedError(refusal, headers));
      else {
        response.statusCode = refusal.status;
        response.setHeader('content-type', PROBLEM_TYPE);
        response.end(JSON.stringify(refusal.problem));
      }
    };
    let admission: ReturnType<typeof admit>;
    try {
      admission = admit(request, response);
    } catch (error) {
      // Not every router catches what functions throw.
      next(error);
      return;
    }
    // Express 4 ignores promises.
    if (admission instanceof Promise) admission.then(answer).catch(next);
    else answer(admission);
  };
}
