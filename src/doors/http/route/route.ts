import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import { InvalidInput } from './invalid-input.js';
import type { RouteAccess } from './route-access.js';

/**
 * A route and all that is known of it: what it takes and answers is defined here alone, and validation, types and
 * GET /openapi.json follow.
 */
export interface Route<Body extends z.ZodType, Query extends z.ZodType, Params extends z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  readonly url: string;
  readonly access: RouteAccess;
  readonly tag: string;
  readonly summary: string;
  /** Absent = a body is not looked at. */
  readonly body?: Body;
  /** A quick look at a body, on the hot path: true only for what the schema passes unchanged. */
  readonly isPlain?: (body: unknown) => boolean;
  readonly query?: Query;
  /** Names in the path. */
  readonly params?: Params;
  readonly answers: Readonly<Record<number, unknown>>;
  /** Absent = http.bodyLimitBytes. */
  readonly bodyLimit?: number;
  readonly errorHandler?: RouteOptions['errorHandler'];
  /** The path of the same route, of which this one is another spelling. */
  readonly aliasOf?: string;
}

type Handler<Body, Query, Params> = (
  request: FastifyRequest<{ Body: Body; Querystring: Query; Params: Params }>,
  reply: FastifyReply,
) => unknown;

export function route<
  Body extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUnknown,
  Params extends z.ZodType = z.ZodUnknown,
>(
  app: FastifyInstance,
  described: Route<Body, Query, Params>,
  handler: Handler<z.output<Body>, z.output<Query>, z.output<Params>>,
): void {
  const { method, url, access, aliasOf, isPlain, bodyLimit, errorHandler } = described;
  app.route({
    method,
    url,
    schema: schemaOf(described),
    validatorCompiler: isPlain === undefined ? validatorCompiler : unlessPlain(isPlain),
    handler: handler as RouteOptions['handler'],
    config: { access, ...(aliasOf !== undefined && { aliasOf }) },
    ...(bodyLimit !== undefined && { bodyLimit }),
    ...(errorHandler !== undefined && { errorHandler }),
  });
}

/** For routes without parameters: otherwise a parameter that was meant for another route would be ignored silently. */
export const NO_QUERY = z.strictObject({});

function schemaOf(described: Route<z.ZodType, z.ZodType, z.ZodType>) {
  const { tag, summary, body, query, params, answers } = described;
  return {
    summary,
    tags: [tag],
    ...(body !== undefined && { body }),
    ...(query !== undefined && { querystring: query }),
    ...(params !== undefined && { params }),
    response: answers,
  };
}

function unlessPlain(isPlain: (body: unknown) => boolean): typeof validatorCompiler {
  return (definition) => {
    const validate = validatorCompiler(definition);
    return definition.httpPart === 'body' ? (body: unknown) => isPlain(body) || validate(body) : validate;
  };
}

interface SchemaDefinition {
  readonly schema: unknown;
  readonly httpPart?: string | undefined;
}

type Validate = (value: unknown) => true | { readonly value: unknown } | { readonly error: Error };

/**
 * fastify calls it for each part of a request for which a route has a schema. zod compiles a schema at its first use.
 */
function validatorCompiler({ schema }: SchemaDefinition): Validate {
  if (!(schema instanceof z.ZodType)) return () => true;
  return (value: unknown) => {
    const read = schema.safeParse(value);
    return read.success ? { value: read.data } : { error: new InvalidInput(schema, read.error.issues) };
  };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    aliasOf?: string;
  }
}
