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
  readonly former?: Former;
  /** Parameters of the query, former name to present one. They keep working. */
  readonly formerParameters?: Readonly<Record<string, string>>;
}

/** The path of the route before, and fields of its body, former name to present one. They keep working there. */
export interface Former {
  readonly url: string;
  readonly fields?: Readonly<Record<string, string>>;
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
  const { method, url, access, former, formerParameters } = described;
  const options = (deprecated: boolean): Omit<RouteOptions, 'method' | 'url'> => ({
    schema: schemaOf(described, deprecated),
    validatorCompiler: described.isPlain === undefined ? validatorCompiler : unlessPlain(described.isPlain),
    handler: handler as RouteOptions['handler'],
    config: {
      access,
      ...(former?.fields !== undefined && { formerFields: former.fields }),
      ...(formerParameters !== undefined && { formerParameters }),
      ...(former !== undefined && deprecated && { formerPath: { url: former.url, now: url } }),
    },
    ...(described.bodyLimit !== undefined && { bodyLimit: described.bodyLimit }),
    ...(described.errorHandler !== undefined && { errorHandler: described.errorHandler }),
  });
  app.route({ method, url, ...options(false) });
  if (former !== undefined) app.route({ method, url: former.url, ...options(true) });
}

/** For routes without parameters: otherwise a parameter that was meant for another route would be ignored silently. */
export const NO_QUERY = z.strictObject({});

function schemaOf(described: Route<z.ZodType, z.ZodType, z.ZodType>, deprecated: boolean) {
  const { tag, summary, body, query, params, answers } = described;
  return {
    summary,
    tags: [tag],
    ...(deprecated && { deprecated }),
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
    /** Fields of the body that had another name before, former name to present one. */
    formerFields?: Readonly<Record<string, string>>;
    /** Parameters of the query that had another name before, former name to present one. */
    formerParameters?: Readonly<Record<string, string>>;
    /** Present only where the route stands under a former path. */
    formerPath?: { readonly url: string; readonly now: string };
  }
}
