import { z } from 'zod';
import { isMapping, type Mapping } from '../../../base/input/mapping.js';
import { WORDING } from './wording.js';

interface DescribedRoute {
  readonly schema?: unknown;
  readonly url: string;
}

/** Turns a route into @fastify/swagger's form, at the first GET /openapi.json. */
export function toOpenApi({ schema, url }: DescribedRoute): { schema: never; url: string } {
  const given = (schema ?? {}) as Mapping;
  const { body, querystring, params, response } = given;
  const described = {
    ...given,
    ...(body !== undefined && { body: inputOf(body) }),
    ...(querystring !== undefined && { querystring: inputOf(querystring) }),
    ...(params !== undefined && { params: inputOf(params) }),
    ...(response !== undefined && { response: answersOf(response) }),
  };
  return { schema: described as never, url };
}

function inputOf(schema: unknown): Mapping {
  return schema instanceof z.ZodType ? jsonSchemaOf(schema, 'input') : (schema as Mapping);
}

/** Replaces schemas below statuses and media types by JSON Schemas. */
function answersOf(within: unknown): unknown {
  if (within instanceof z.ZodType) return jsonSchemaOf(within, 'output');
  if (!isMapping(within)) return within;
  return Object.fromEntries(Object.entries(within).map(([key, value]) => [key, answersOf(value)]));
}

function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): Mapping {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const shownAs = WORDING.get(zodSchema as unknown as z.ZodType)?.shownAs;
      if (shownAs !== undefined) Object.assign(jsonSchema, jsonSchemaOf(shownAs, io));
    },
  });
  return rest;
}
