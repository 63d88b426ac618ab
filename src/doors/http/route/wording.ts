import { z } from 'zod';
import type { QuotameshError } from '../../../base/errors/quotamesh-error.js';

/**
 * Knowledge of a schema beside zod's own. zod's methods that describe or check make a new schema, which takes this
 * over; wrappers like `exactOptional()` leave it inside.
 */
export const WORDING = z.registry() as unknown as Wordings;

/** Narrow type: zod's own would look into every schema of a wording. */
interface Wordings {
  add(schema: z.ZodType, wording: Wording): void;
  get(schema: z.ZodType): Wording | undefined;
}

interface Wording {
  /** Wording of a mistake in the field. */
  readonly allowed?: Allowed;
  /** Error for mistakes of a whole body, instead of FIELD_INVALID and FIELD_UNKNOWN. */
  readonly errorOf?: (mistake: FieldMistake) => QuotameshError;
  /** Schema that GET /openapi.json shows instead. */
  readonly shownAs?: z.ZodType;
}

/** Requirement as an error states it: "must be true or false". Or the error itself. */
export type Allowed = string | ((field: string, sent: unknown) => QuotameshError);

/** Mistake of a field, with the path's parameters. */
interface FieldMistake {
  readonly field: string;
  readonly reason: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Gives a field the wording of its mistakes. */
export function withAllowed<Schema extends z.ZodType>(schema: Schema, allowed: Allowed): Schema {
  return worded(schema, { allowed });
}

/** Gives a body's mistakes a code of their own. */
export function toldAs<Schema extends z.ZodType>(
  schema: Schema,
  errorOf: (mistake: FieldMistake) => QuotameshError,
): Schema {
  return worded(schema, { errorOf });
}

/** Shows `item` in GET /openapi.json, but passes anything: the handler judges it. */
export function judgedLater(item: z.ZodType): z.ZodType<unknown> {
  return worded(z.unknown(), { shownAs: item });
}

function worded<Schema extends z.ZodType>(schema: Schema, wording: Wording): Schema {
  WORDING.add(schema, { ...WORDING.get(schema), ...wording });
  return schema;
}
