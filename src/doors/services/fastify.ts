import type { FastifyReply, FastifyRequest } from 'fastify';
import type { QuotaNode } from '../../node/api/quota-node.js';
import { type Admission, admissionOf, PROBLEM_TYPE, type QuotaOptions, QuotaRefusedError } from './admission.js';

export { type QuotaOptions, QuotaRefusedError };

/** Hook of all routes or one, with a callback: a request that does not wait costs no promise. */
type QuotaHook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

/**
 * Limits by `app.addHook('onRequest', quota(node, { group: 'orders' }))`, or `onRequest` of a route; by `preHandler`
 * where group or cost follow from the body.
 */
export function quota(node: QuotaNode, options: QuotaOptions<FastifyRequest>): QuotaHook {
  const admit = admissionOf(node, options);
  return (request, reply, done) => {
    const answer = (admission: Admission | null) => {
      if (admission === null) return;
      const { headers, refusal } = admission;
      reply.headers(headers);
      if (refusal === null) done();
      else if (options.refusal === 'framework' || reply.raw.headersSent) done(new QuotaRefusedError(refusal, headers));
      else reply.code(refusal.status).type(PROBLEM_TYPE).send(JSON.stringify(refusal.problem));
    };
    const admission = admit(request, reply.raw);
    if (admission instanceof Promise) admission.then(answer, done);
    else answer(admission);
  };
}
