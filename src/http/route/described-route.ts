import type { FastifySchema } from 'fastify';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import { isMapping, type Mapping } from '../../input/mapping.js';
import { nearestNames } from '../../input/nearest-name.js';
import type { RouteAccess } from './route-access.js';

/**
 * Options of a route whose schema only describes: what is called checks, so that the library, a single request and a
 * batch give the same errors.
 */
export function describedRoute(access: RouteAccess, tag: string, summary: string, schema: FastifySchema) {
  return { schema: { summary, tags: [tag], ...schema }, validatorCompiler: () => () => true, config: { access } };
}

/** The body of such a route; throws BODY_INVALID. */
export function mappingIn(body: unknown): Mapping {
  if (isMapping(body)) return body;
  throw new QuotameshError('BODY_INVALID', { reason: 'the body must be a JSON object' });
}

/** The same of one that is part of a body (`where` = 'commits[3].'), or '' for the body; throws FIELD_UNKNOWN too. */
export function knownMappingIn(given: unknown, where: string, known: readonly string[]): Mapping {
  if (where !== '' && !isMapping(given)) invalid(where.slice(0, -1), 'must be an object');
  const body = mappingIn(given);
  const unknown = Object.keys(body).find((key) => !known.includes(key));
  if (unknown === undefined) return body;
  const near = nearestNames(unknown, known);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : `; known are ${known.join(', ')}`;
  throw new QuotameshError('FIELD_UNKNOWN', { field: where + unknown.slice(0, 80), near: hint });
}

export function invalid(field: string, reason: string): never {
  throw new QuotameshError('FIELD_INVALID', { field, reason });
}

/** Routes without parameters of their own refuse them: a misspelled one would be ignored silently. */
export const NO_QUERY = { type: 'object', additionalProperties: false } as const;
