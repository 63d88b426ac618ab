import { z } from 'zod';
import type { QuotameshError } from '../../../base/errors/quotamesh-error.js';

/**
 * What is known of a schema beside what zod keeps of it. A method of zod that describes or checks a schema makes a new
 * one, which takes this over; one that wraps it, like `exactOptional()`, leaves it to the schema inside.
 */
export const WORDING = z.registry() as unknown as Wordings;

/** zod's own type of a registry would look into every schema that stands in a wording. */
interface Wordings {
  add(schema: z.ZodType, wording: Wording): void;
  get(schema: z.ZodType): Wording | undefined;
}

interface Wording {
  /** How a mistake in the field reads. */
  readonly allowed?: Allowed;
  /** For a whole body: the error for a mistake in it, instead of FIELD_INVALID and FIELD_UNKNOWN. */
  readonly errorOf?: (mistake: FieldMistake) => QuotameshError;
  /** The schema that GET /openapi.json shows instead. */
  readonly shownAs?: z.ZodType;
}

/** What a field must be, as an error says it ("must be true or false"); or the error for what was sent instead. */
export type Allowed = string | ((field: string, sent: unknown) => QuotameshError);

/** What is wrong with a field, and the parameters of the path. */
export interface FieldMistake {
  readonly field: string;
  readonly reason: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A field whose mistakes read like this. */
export function withAllowed<Schema extends z.ZodType>(schema: Schema, allowed: Allowed): Schema {
  return worded(schema, { allowed });
}

/** A body whose mistakes have a code of their own. */
export function toldAs<Schema extends z.ZodType>(
  schema: Schema,
  errorOf: (mistake: FieldMistake) => QuotameshError,
): Schema {
  return worded(schema, { errorOf });
}

/** A field that GET /openapi.json shows as `item`, though anything passes here: the handler judges it. */
export function judgedLater(item: z.ZodType): z.ZodType<unknown> {
  return worded(z.unknown(), { shownAs: item });
}

function worded<Schema extends z.ZodType>(schema: Schema, wording: Wording): Schema {
  WORDING.add(schema, { ...WORDING.get(schema), ...wording });
  return schema;
}
