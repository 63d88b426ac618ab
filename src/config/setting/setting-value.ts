import { isMapping } from '../../base/input/mapping.js';
import type { MistakeCause } from './config-error.js';
import { isAboveMost, isBelowLeast, isNearlyNothing } from './measured.js';
import { parseQuantity, parseRate, QUANTITY_EXAMPLES, type QuantityKind } from './quantity.js';
import { GROUP_SELECTOR, NODE_NAME, type Setting, type TextFile } from './setting.js';
import { allowedText, remedyFor, show } from './setting-text.js';
import type { WrittenRate } from './written-rate.js';

export interface ReadValue {
  /** undefined when there is a problem. */
  readonly value: unknown;
  readonly problems: readonly ValueProblem[];
}

interface ValueProblem {
  /** Below the setting: the index in a list, the key in a mapping. */
  readonly at: readonly (string | number)[];
  /** Predicate that follows the path: `must be …, got …`. */
  readonly problem: string;
  readonly allowed: string;
  readonly remedy: string;
  readonly cause?: MistakeCause | undefined;
}

/** Reads a setting's value from YAML, or a text of the environment. It is neither null nor undefined. */
export function readValue(setting: Setting, input: unknown): ReadValue {
  switch (setting.kind) {
    case 'addresses':
      return readList(setting, input, ADDRESS);
    case 'ratios':
      return readList(setting, input, { kind: 'ratio' });
    case 'group-selection':
      return input === 'none' || input === 'all' ? accept(input) : readList(setting, input, GROUP);
    case 'weights':
      return readWeights(setting, input);
    case 'entries':
      return accept(input);
    default:
      return readSingle(setting, input);
  }
}

/** Reads a dotted key: undefined = nothing, null = it or a mapping around it is null. */
export function valueAt(layer: unknown, key: string): unknown {
  return valueBelow(layer, key.split('.'));
}

/** The same, where the key has been split already. */
export function valueBelow(layer: unknown, parts: readonly string[]): unknown {
  let current = layer;
  for (const part of parts) {
    if (current === null) return null;
    if (!isMapping(current) || !Object.hasOwn(current, part)) return undefined;
    current = current[part];
  }
  return current;
}

function readSingle(setting: Setting, input: unknown): ReadValue {
  const value = singleValue(setting, input);
  return value === undefined ? refuse(setting, input) : accept(value);
}

function singleValue(setting: Setting, input: unknown): unknown {
  switch (setting.kind) {
    case 'name':
    case 'text':
      return fileValue(setting, input) ?? textValue(setting, input);
    case 'choice':
      return setting.choices?.find((choice) => choice === input);
    case 'switch':
      return SWITCHES.get(input);
    default:
      return quantityValue(setting, input);
  }
}

/** The environment knows only strings. */
const SWITCHES: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ['true', true],
  ['false', false],
]);

const TEXT_LENGTH_MAX = 65_536;

function textValue({ pattern }: Setting, input: unknown): string | undefined {
  if (typeof input !== 'string' || input === '' || input.length > TEXT_LENGTH_MAX) return undefined;
  return pattern === undefined || pattern.matches.test(input) ? input : undefined;
}

function fileValue({ mayBeFile }: Setting, input: unknown): TextFile | undefined {
  if (mayBeFile === undefined || !isMapping(input) || Object.keys(input).join() !== 'file') return undefined;
  const { file } = input;
  return typeof file === 'string' && file !== '' ? { file } : undefined;
}

function quantityValue(setting: Setting, input: unknown): number | WrittenRate | undefined {
  if (typeof input !== 'number' && typeof input !== 'string') return undefined;
  if (isNearlyNothing(setting, input)) return undefined;
  const { kind, min = 0, max = Infinity } = setting;
  const value = parseQuantity(kind as QuantityKind, input);
  const whole = kind === 'count' || kind === 'bytes';
  if (!Number.isFinite(value) || (whole && !Number.isInteger(value)) || value < min || value > max) return undefined;
  // Adding 0 turns -0 into 0, which no rate or time should have to tell apart.
  if (setting.isWritten === undefined) return value + 0;
  const { amount, per } = parseRate(kind as 'rate' | 'byte-rate', input);
  return { amount: amount + 0, per };
}

type Element = Pick<Setting, 'kind' | 'pattern' | 'min' | 'max' | 'remedy'>;

/** 1 … 65535. */
const PORT = '(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d\\d|655[0-2]\\d|6553[0-5])';

const GROUP: Element = { kind: 'name', pattern: GROUP_SELECTOR, remedy: 'Write the names as in groups:, or orders-*.' };
const ADDRESS: Element = {
  kind: 'name',
  pattern: {
    matches: new RegExp(`^(?:[[0-9A-Fa-f:.%]{2,64}]|[A-Za-z0-9._-]{1,253}):${PORT}$`),
    text: 'host:port',
  },
  // Its setting has an example: ports differ by kind of topic.
};

function readList(setting: Setting, input: unknown, element: Element): ReadValue {
  const parts: unknown = typeof input === 'string' ? input.split(',').map((part) => part.trim()) : input;
  if (!Array.isArray(parts) || parts.length === 0) return refuse(setting, input);
  const reads = Array.from(parts as unknown[], (part) => readSingle({ ...setting, ...element }, part));
  return combine(
    reads.map((read, index) => [index, read] as const),
    (values) => values,
  );
}

function readWeights(setting: Setting, input: unknown): ReadValue {
  if (!isMapping(input)) return refuse(setting, input);
  // null removes an inherited weight.
  const given = Object.entries(input).filter(([, weight]) => weight !== null);
  const reads = given.map(([node, weight]) => [node, readWeight(setting, node, weight)] as const);
  return combine(reads, (weights) => {
    // No prototype: a node may be called "constructor".
    const byNode: Record<string, unknown> = Object.create(null);
    for (const [index, [node]] of given.entries()) byNode[node] = weights[index];
    return byNode;
  });
}

function readWeight(setting: Setting, node: string, weight: unknown): ReadValue {
  const name = readSingle({ ...setting, kind: 'name', pattern: NODE_NAME, remedy: 'Use the id of a node.' }, node);
  return name.problems.length > 0 ? name : readSingle({ ...setting, kind: 'factor' }, weight);
}

function combine(
  reads: readonly (readonly [string | number, ReadValue])[],
  build: (values: readonly unknown[]) => unknown,
): ReadValue {
  const problems = reads.flatMap(([at, read]) =>
    read.problems.map((problem) => ({ ...problem, at: [at, ...problem.at] })),
  );
  return problems.length > 0 ? { value: undefined, problems } : accept(build(reads.map(([, read]) => read.value)));
}

function accept(value: unknown): ReadValue {
  return { value, problems: [] };
}

function refuse(setting: Setting, input: unknown): ReadValue {
  const allowed = allowedText(setting, input);
  const got = setting.secret === true ? '(not shown)' : show(input);
  const problem = `must be ${allowed}, got ${got}`;
  const [remedy, cause] = [remedyFor(setting, input), causeOf(setting, input)];
  return { value: undefined, problems: [{ at: [], problem, allowed, remedy, cause }] };
}

function causeOf(setting: Setting, input: unknown): MistakeCause | undefined {
  if (setting.choices !== undefined) return 'choice-unknown';
  if (!Object.hasOwn(QUANTITY_EXAMPLES, setting.kind)) return undefined;
  if (isAboveMost(setting, input)) return 'above-range';
  if (isBelowLeast(setting, input)) return 'below-range';
  return isNearlyNothing(setting, input) ? 'nearly-nothing' : undefined;
}
