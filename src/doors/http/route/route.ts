import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import { InvalidInput } from './invalid-input.js';
import type { RouteAccess } from './route-access.js';

/** Defines a route: validation, types and GET /openapi.json follow from it. */
export interface Route<Body extends z.ZodType, Query extends z.ZodType, Params extends z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  readonly url: string;
  readonly access: RouteAccess;
  readonly tag: string;
  readonly summary: string;
  /** Absent = the body is not looked at. */
  readonly body?: Body;
  /** Recognizes, on the hot path, a body that the schema passes unchanged; false decides nothing. */
  readonly isPlain?: (body: unknown) => boolean;
  readonly query?: Query;
  readonly params?: Params;
  readonly answers: Readonly<Record<number, unknown>>;
  /** Bytes; absent = http.bodyLimitBytes, or what a change of groups may take. */
  readonly bodyLimit?: number;
  readonly errorHandler?: RouteOptions['errorHandler'];
  /** Path of the route that this one spells otherwise. */
  readonly aliasOf?: string;
  readonly handler: (
    request: FastifyRequest<{ Body: z.output<Body>; Querystring: z.output<Query>; Params: z.output<Params> }>,
    reply: FastifyReply,
  ) => unknown;
}

export function route<
  Body extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUnknown,
  Params extends z.ZodType = z.ZodUnknown,
>(app: FastifyInstance, described: Route<Body, Query, Params>): void {
  const { method, url, access, aliasOf, isPlain, errorHandler, handler } = described;
  const bodyLimit = described.bodyLimit ?? (access.changes ? CHANGE_BYTES_MAX : undefined);
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

/** Bytes of 10,000 groups of 400 each: or of one with as many weights; the registry's log takes it in one append. */
const CHANGE_BYTES_MAX = 4 * 1024 * 1024;

/** Rejects all parameters, so that a misplaced one is not ignored. */
export const NO_QUERY = z.strictObject({});

function schemaOf(described: Omit<Route<z.ZodType, z.ZodType, z.ZodType>, 'handler'>) {
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

/** Validates a part of a request; zod compiles a schema at its first use. */
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
