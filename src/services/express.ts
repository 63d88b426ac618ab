import type { Request, RequestHandler } from 'express';
import type { QuotaNode } from '../api/quota-node.js';
import { type Admission, admissionOf, PROBLEM_TYPE, type QuotaOptions, QuotaRefusedError } from './admission.js';

export { type QuotaOptions, QuotaRefusedError };

/** `app.use(quota(node, { group: 'orders' }))`, of an app, a router or one route. */
export function quota(node: QuotaNode, options: QuotaOptions<Request>): RequestHandler {
  const admit = admissionOf(node, options);
  return (request, response, next) => {
    const answer = (admission: Admission | null) => {
      if (admission === null) return;
      const { headers, refusal } = admission;
      if (!response.headersSent) response.set(headers);
      if (refusal === null) next();
      else if (options.refusal === 'framework' || response.headersSent) next(new QuotaRefusedError(refusal, headers));
      else response.status(refusal.status).type(PROBLEM_TYPE).send(JSON.stringify(refusal.problem));
    };
    const admission = admit(request, response);
    // Express 4 does not look at promises.
    if (admission instanceof Promise) admission.then(answer).catch(next);
    else answer(admission);
  };
}
