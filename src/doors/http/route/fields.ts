import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { showSent } from '../../../base/input/input-mistakes.js';
import { isMapping, type Mapping } from '../../../base/input/mapping.js';
import { nameOfSegment } from '../../../config/setting/path-segment.js';
import { NAME_MAX } from '../../../node/admission/request/request-checks.js';
import { withAllowed } from './wording.js';

/** Largest amount: numbers above cannot hold every whole number. */
export const AMOUNT_MAX = Number.MAX_SAFE_INTEGER;
/** Most characters of a group's or key's name: a token of 4 KiB with its template's text. */
export const GROUP_LENGTH_MAX = 5000;
/** Longest wait over HTTP, ms: load balancers give up after a minute. */
export const HTTP_WAIT_MS_MAX = 55_000;
/** Most items of one bulk: about 0.5 ms of the event loop. */
export const BULK_MAX = 1000;

/** JSON object, passed on as sent; the handler judges its keys. */
export function anyObject(description: string) {
  return z.custom<Mapping>(isMapping).meta({ type: 'object', description });
}

const NAME = z.string().transform(nameOfSegment);

export function pathParams<const Name extends string>(...names: readonly Name[]) {
  return z.object(Object.fromEntries(names.map((one) => [one, NAME])) as Record<Name, typeof NAME>);
}

export function once(description?: string) {
  const schema = description === undefined ? z.string() : z.string().meta({ description });
  return withAllowed(schema, 'must be given once').exactOptional();
}

/** Whole number of a query, sent as text. */
export function whole(most: number, description: string) {
  const digits = z.string().refine((sent) => /^\d{1,7}$/.test(sent) && Number(sent) <= most);
  return withAllowed(digits.meta({ description }), `must be a whole number from 0 to ${most}`);
}

export function onOrOff(description: string) {
  return withAllowed(z.enum(['true', 'false']).meta({ description }), 'must be true or false').exactOptional();
}

export function amount(description: string) {
  return withAllowed(
    z
      .int()
      .min(0)
      .meta({ description, examples: [1] }),
    amountMistake,
  );
}

/** Amount of a budget; the library judges its decimals by the unit. */
export function decimal(description: string) {
  return withAllowed(
    z
      .number()
      .min(0)
      .max(AMOUNT_MAX)
      .meta({ description, examples: [0.42] }),
    (field, sent) => {
      const reason = `must be a finite number from 0 to ${AMOUNT_MAX} (2^53 − 1), got ${showSent(sent)}`;
      return new QuotameshError('AMOUNT_INVALID', { field, reason });
    },
  );
}

function amountMistake(field: string, sent: unknown): QuotameshError {
  const reason =
    typeof sent === 'number' && sent >= 0 && sent <= AMOUNT_MAX
      ? `must be a whole number, got ${sent}`
      : `must be a finite number from 0 to ${AMOUNT_MAX} (2^53 − 1), got ${showSent(sent)}`;
  return new QuotameshError('AMOUNT_INVALID', { field, reason });
}

export function flag(description: string) {
  return withAllowed(z.boolean().meta({ description, default: false }), 'must be true or false');
}

/** Choice of texts; the first is the default. */
export function choice<const Choices extends readonly [string, ...string[]]>(choices: Choices, description?: string) {
  const described = description === undefined ? {} : { description };
  const names = choices.map((name) => `"${name}"`).join(' or ');
  return withAllowed(z.enum(choices).meta({ ...described, default: choices[0] }), `must be ${names}`);
}

export function textUpTo(max: number, description: string, example: string) {
  const schema = z
    .string()
    .min(1)
    .max(max)
    .meta({ description, examples: [example] });
  return withAllowed(schema, `must be a string of 1 to ${max} characters`);
}

export function name(description: string) {
  const schema = z.string().max(NAME_MAX).meta({ description });
  return withAllowed(schema, `must be a string of at most ${NAME_MAX} characters`);
}

export function milliseconds(max: number, description: string) {
  const schema = z.number().min(0).max(max).meta({ description, default: 0 });
  return withAllowed(schema, `must be a number of milliseconds from 0 to ${max}`);
}

export function bulkOf<Item extends z.ZodType>(item: Item, what: string) {
  return withAllowed(z.array(item).min(1).max(BULK_MAX), `must be an array of 1 to ${BULK_MAX} ${what}`);
}
