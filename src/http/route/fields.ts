import { z } from 'zod';
import { NAME_MAX } from '../../admission/request/request-checks.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import { isMapping, type Mapping } from '../../input/mapping.js';
import { show } from '../../input/shown-value.js';

/** What a field must be, as an error says it ("must be true or false"); or the error for what was sent instead. */
export type Allowed = string | ((field: string, sent: unknown) => QuotameshError);

/** Doubles above this skip whole numbers; every maxRequest is below it. */
export const AMOUNT_MAX = Number.MAX_SAFE_INTEGER;
/** Characters of a group's name; what is longer is no name. */
export const GROUP_LENGTH_MAX = 1024;
/** Longest wait over HTTP: load balancers between give up after a minute. */
export const HTTP_WAIT_MS_MAX = 55_000;
/** Items of one bulk request: about 0.5 ms of the event loop. */
export const BULK_MAX = 1000;

/** A schema whose mistakes are told in our words. Methods of zod make a new schema, which must be told of again. */
export function told<Schema extends z.ZodType>(schema: Schema, allowed: Allowed): Schema {
  ALLOWED.set(schema, allowed);
  return schema;
}

export function allowedOf(schema: z.ZodType): Allowed | undefined {
  return ALLOWED.get(schema);
}

const ALLOWED = new WeakMap<z.ZodType, Allowed>();

/** What is wrong with a field, and the parameters of the path. */
export interface Mistake {
  readonly field: string;
  readonly reason: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A body whose mistakes have a code of their own. */
export function toldAs<Schema extends z.ZodType>(schema: Schema, make: (mistake: Mistake) => QuotameshError): Schema {
  TOLD_AS.set(schema, make);
  return schema;
}

export function makerOf(schema: z.ZodType): ((mistake: Mistake) => QuotameshError) | undefined {
  return TOLD_AS.get(schema);
}

const TOLD_AS = new WeakMap<z.ZodType, (mistake: Mistake) => QuotameshError>();

/** A JSON object whose keys are judged elsewhere, as it was sent. */
export function anyObject(description: string) {
  return z.custom<Mapping>(isMapping).meta({ type: 'object', description });
}

/** The name of what a path is about. */
export function pathOf<const Name extends string>(...names: readonly Name[]) {
  return z.object(Object.fromEntries(names.map((one) => [one, z.string()])) as Record<Name, z.ZodString>);
}

/** A parameter of a query. */
export function once(description?: string) {
  const schema = description === undefined ? z.string() : z.string().meta({ description });
  return told(schema, 'must be given once').exactOptional();
}

/** A switch of a query. */
export function onOrOff(description: string) {
  return told(z.enum(['true', 'false']).meta({ description }), 'must be true or false').exactOptional();
}

/** Whole units from 0 on. */
export function amount(description: string) {
  return told(
    z
      .int()
      .min(0)
      .meta({ description, examples: [1] }),
    amountMistake,
  );
}

function amountMistake(field: string, sent: unknown): QuotameshError {
  const reason =
    typeof sent === 'number' && sent >= 0 && sent <= AMOUNT_MAX
      ? `must be a whole number, got ${sent}`
      : `must be a finite number from 0 to ${AMOUNT_MAX} (2^53 − 1), got ${show(sent)}`;
  return new QuotameshError('AMOUNT_INVALID', { field, reason });
}

export function flag(description: string) {
  return told(z.boolean().meta({ description, default: false }), 'must be true or false');
}

/** The first choice is what an absent field means. */
export function choice<const Choices extends readonly [string, ...string[]]>(choices: Choices, description?: string) {
  const described = description === undefined ? {} : { description };
  const names = choices.map((name) => `"${name}"`).join(' or ');
  return told(z.enum(choices).meta({ ...described, default: choices[0] }), `must be ${names}`);
}

/** The name of a tenant, topic, client and the like. */
export function name(description: string) {
  const schema = z.string().max(NAME_MAX).meta({ description });
  return told(schema, `must be a string of at most ${NAME_MAX} characters`);
}

export function milliseconds(max: number, description: string) {
  const schema = z.number().min(0).max(max).meta({ description, default: 0 });
  return told(schema, `must be a number of milliseconds from 0 to ${max}`);
}

/** One to BULK_MAX items; an empty list would be a request for nothing. */
export function bulkOf<Item extends z.ZodType>(item: Item, what: string) {
  return told(z.array(item).min(1).max(BULK_MAX), `must be an array of 1 to ${BULK_MAX} ${what}`);
}

/** Described as `item`, and judged by itself later: what is wrong with one is its own answer, and the others pass. */
export function judgedAlone(item: z.ZodType) {
  const schema = z.unknown();
  DESCRIBED_AS.set(schema, item);
  return schema;
}

export function describedAs(schema: z.ZodType): z.ZodType | undefined {
  return DESCRIBED_AS.get(schema);
}

const DESCRIBED_AS = new WeakMap<z.ZodType, z.ZodType>();

/** A relation between fields of a body, which a schema of fields cannot say. */
export interface Rule<Body = never> {
  readonly isKept: (body: Body) => boolean;
  /** `where` = 'requests[3].', or '' in a body of its own. */
  readonly mistake: (where: string) => QuotameshError;
  /** As JSON Schema says it, if it can. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Where a field is not known, that is why the rule is broken: it is not told beside it. */
  readonly isImpliedByUnknown?: boolean;
}

/** A JSON object of known fields, or a query of known parameters. */
export function body<const Shape extends z.ZodRawShape>(
  shape: Shape,
  rules: readonly Rule<z.output<z.ZodObject<Shape, z.core.$strict>>>[] = [],
) {
  const fields = z.strictObject(shape);
  if (rules.length === 0) return fields;
  const ruled = fields.check((payload) => {
    for (const { isKept, mistake, isImpliedByUnknown = false } of rules) {
      if (isKept(payload.value)) continue;
      if (isImpliedByUnknown && payload.issues.some(({ code }) => code === 'unrecognized_keys')) continue;
      payload.issues.push({ code: 'custom', input: payload.value, params: { mistake } });
    }
  });
  // Rules are told beside fields that are wrong, so that a client corrects all at once.
  for (const check of ruled.def.checks ?? []) check._zod.def.when = ({ value }) => isMapping(value);
  return ruled.meta(jsonSchemaOf(rules.flatMap(({ schema }) => (schema === undefined ? [] : [schema]))));
}

function jsonSchemaOf([first = {}, ...others]: readonly Readonly<Record<string, unknown>>[]) {
  return others.length === 0 ? first : { ...first, allOf: others };
}

export function anyOfFields(names: readonly string[]) {
  return { anyOf: names.map((name) => ({ required: [name] })) };
}
