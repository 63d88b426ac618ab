import type { QuantityKind } from '../../src/config/setting/quantity.js';
import { type NamePattern, NODE_NAME, type Setting } from '../../src/config/setting/setting.js';
import { allowedText, defaultText, show } from '../../src/config/setting/setting-text.js';
import { type ReadValue, readValue } from '../../src/config/setting/setting-value.js';

export interface Field<Value = unknown> {
  readonly says: string;
  readonly allowed: string;
  /** True = refused when absent. */
  readonly required: boolean;
  readonly default: unknown;
  readonly defaultText: string;
  readonly read: (input: unknown) => ReadValue;
  /** Type alone, never a value. */
  readonly value?: Value;
  /** For editors. */
  readonly json: Readonly<Record<string, unknown>>;
}

export type Fields = Readonly<Record<string, Field>>;

/** Values read of a mapping. Mistaken fields are absent, whatever the type: findings stop the play. */
export type ReadFields<Own extends Fields> = {
  readonly [Key in keyof Own]: Own[Key] extends Field<infer Value> ? Value : never;
};

interface Options {
  readonly default?: unknown;
  readonly required?: true;
  readonly defaultText?: string;
}

type Range = Options & Pick<Setting, 'min' | 'max'>;

/** Null where it may be absent. */
type OrNull<Value, Given extends Options> =
  | Value
  | (Given extends { readonly required: true } | { readonly default: NonNullable<unknown> } ? never : null);

export function quantity<const Given extends Range>(
  kind: QuantityKind,
  says: string,
  range: Given,
): Field<OrNull<number, Given>> {
  const { min, max, ...options }: Range = range;
  const bounds = { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
  return ofSetting({ kind, ...bounds }, says, options);
}

/** Reads seconds, with the unit in the key: `forSeconds: 2.5`. */
export function seconds<const Given extends Range = Record<never, never>>(
  says: string,
  range?: Given,
): Field<OrNull<number, Given>> {
  return quantity('factor', says, { min: 0, max: DURATION_SECONDS_MAX, ...range } as unknown as Given);
}

const DURATION_SECONDS_MAX = 86_400;

export function choice<const Choice extends string, const Given extends Options>(
  choices: readonly Choice[],
  says: string,
  options: Given,
): Field<OrNull<Choice, Given>> {
  return ofSetting({ kind: 'choice', choices }, says, options);
}

export function text<const Given extends Options>(says: string, options: Given): Field<OrNull<string, Given>> {
  return ofSetting({ kind: 'text' }, says, options);
}

export function name<const Given extends Options>(
  says: string,
  options: Given,
  pattern: NamePattern = NODE_NAME,
): Field<OrNull<string, Given>> {
  return ofSetting({ kind: 'name', pattern }, says, options);
}

/** `all`, one name, or a list of names; whether the scenario has them is checked elsewhere. */
export function nodeNames(says: string): Field<'all' | readonly string[]> {
  return namesOrAll(says, 'node');
}

/** @param what singular, for messages */
export function namesOrAll(says: string, what: string): Field<'all' | readonly string[]> {
  const allowed = `all, the name of a ${what}, or a list of names`;
  return custom({ says, allowed, default: 'all', defaultText: 'all' }, STRING_OR_LIST, (input) => {
    if (input === 'all') return 'all';
    const names = typeof input === 'string' ? [input] : input;
    return isList(names) && names.length > 0 && names.every((one) => typeof one === 'string') ? names : undefined;
  });
}

/** Infinity = unlimited. */
export function rateOrUnlimited(says: string): Field<number> {
  const allowed = 'a number from 0 to 1000000000000, or unlimited';
  const json = { anyOf: [{ type: 'number', minimum: 0 }, { enum: ['unlimited'] }] };
  return custom({ says, allowed, required: true }, json, (input) => {
    if (input === 'unlimited') return Infinity;
    return typeof input === 'number' && input >= 0 && input <= 1e12 ? input : undefined;
  });
}

/** Reads a number, or least and most of an even draw. */
export function range(says: string, { min = 0, max = 1e9, ...options }: Range): Field<readonly [number, number]> {
  const allowed = `a number between ${min} and ${max}, or [least, most]`;
  return custom({ says, allowed, ...options }, NUMBER_OR_LIST, (input) => {
    const pair = isList(input) ? input : [input, input];
    const fits = pair.length === 2 && pair.every((one) => typeof one === 'number' && one >= min && one <= max);
    return fits && (pair[0] as number) <= (pair[1] as number) ? pair : undefined;
  });
}

/** Reads steps: `[[0, 100], [20, 400]]` is 100 from second 0, 400 from 20. */
export function steps(says: string): Field<readonly (readonly [number, number])[]> {
  const allowed = 'a list of [second, rate] with rising seconds, e.g. [[0, 100], [20, 400]]';
  return custom({ says, allowed, required: true }, { type: 'array', items: { type: 'array' } }, (input) => {
    if (!isList(input) || input.length === 0) return undefined;
    const isStep = (step: unknown, at: number) =>
      isList(step) &&
      step.length === 2 &&
      step.every((one) => typeof one === 'number' && one >= 0 && one <= 1e9) &&
      (at === 0 || (step[0] as number) > (input[at - 1] as number[])[0]);
    return input.every(isStep) ? input : undefined;
  });
}

export function listOfSeconds(says: string, options: Options): Field<readonly number[] | null> {
  const allowed = 'a list of seconds, rising';
  return custom({ says, allowed, ...options }, { type: 'array', items: { type: 'number' } }, (input) => {
    const rises = (one: unknown, at: number) =>
      typeof one === 'number' && one >= 0 && (at === 0 || one > ((input as unknown[])[at - 1] as number));
    return isList(input) && input.every(rises) ? input : undefined;
  });
}

/** Reads a count, named n1, n2, …, or names. */
export function nodeList(says: string, max: number): Field<readonly string[]> {
  const allowed = `a whole number between 1 and ${max}, or a list of different names`;
  const json = {
    anyOf: [
      { type: 'integer', minimum: 1, maximum: max },
      { type: 'array', items: { type: 'string' } },
    ],
  };
  return custom({ says, allowed, required: true }, json, (input) => {
    if (typeof input === 'number') {
      if (!Number.isInteger(input) || input < 1 || input > max) return undefined;
      return Array.from({ length: input }, (_, at) => `n${at + 1}`);
    }
    const isName = (one: unknown) => typeof one === 'string' && NODE_NAME.matches.test(one) && one !== 'all';
    if (!isList(input) || input.length === 0 || input.length > max || !input.every(isName)) return undefined;
    return new Set(input).size === input.length ? input : undefined;
  });
}

const STRING_OR_LIST = { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }] };
const NUMBER_OR_LIST = {
  anyOf: [{ type: 'number' }, { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 }],
};

function isList(input: unknown): input is unknown[] {
  return Array.isArray(input);
}

function ofSetting(setting: Partial<Setting> & Pick<Setting, 'kind'>, says: string, options: Options): Field<never> {
  const value = (options.default ?? null) as Setting['default'];
  const full = { ...options, ...setting, default: value, missedBy: '', buys: '', costs: '' };
  return {
    says,
    allowed: allowedText(full),
    required: options.required === true,
    default: options.default ?? null,
    defaultText: options.required === true ? '(required)' : defaultText(full),
    read: (input) => readValue(full, input),
    json: jsonOf(full),
  };
}

function jsonOf({ kind, choices, min, max }: Setting): Readonly<Record<string, unknown>> {
  if (choices !== undefined) return { enum: [...choices] };
  if (kind === 'text' || kind === 'name') return { type: 'string' };
  const bounds = { ...(min === undefined ? {} : { minimum: min }), ...(max === undefined ? {} : { maximum: max }) };
  return { anyOf: [{ type: 'number', ...bounds }, { type: 'string' }] };
}

function custom(
  { says, allowed, ...options }: Options & { readonly says: string; readonly allowed: string },
  json: Field['json'],
  read: (input: unknown) => unknown,
): Field<never> {
  const required = options.required === true;
  return {
    says,
    allowed,
    required,
    json,
    default: options.default ?? null,
    defaultText: required ? '(required)' : (options.defaultText ?? String(options.default ?? 'none')),
    read: (input) => {
      const value = read(input);
      if (value !== undefined) return { value, problems: [] };
      const problem = `must be ${allowed}, got ${show(input)}`;
      return { value: undefined, problems: [{ at: [], problem, allowed, remedy: 'See docs/reference/scenarios.md.' }] };
    },
  };
}
