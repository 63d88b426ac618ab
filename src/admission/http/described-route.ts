import type { FastifySchema } from 'fastify';
import { QuotameshError } from '../../errors.js';
import { isMapping, type Mapping } from '../../mapping.js';

/**
 * Options of a route whose schema only describes: what is called checks, so that the library, a single request and a
 * batch give the same errors.
 */
export function describedRoute(tag: string, summary: string, schema: FastifySchema) {
  return { schema: { summary, tags: [tag], ...schema }, validatorCompiler: () => () => true };
}

/** The body of such a route; throws BODY_INVALID. */
export function mappingIn(body: unknown): Mapping {
  if (isMapping(body)) return body;
  throw new QuotameshError('BODY_INVALID', { reason: 'the body must be a JSON object' });
}
