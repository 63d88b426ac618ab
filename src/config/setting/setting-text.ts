import { didYouMean } from '../../base/input/nearest-name.js';
import type { FoundMistake } from './findings.js';
import { isAboveMost, isNearlyNothing, isRate, RATE_LEAST } from './measured.js';
import { formatQuantity, QUANTITY_EXAMPLES, type QuantityKind, UNIT_SPELLINGS, unitAfterStroke } from './quantity.js';
import type { Setting } from './setting.js';

/** Says what is allowed: `a duration between 100ms and 1m (e.g. 500ms or 2s)`. */
export function allowedText(setting: Setting, input?: unknown): string {
  if (setting.pattern !== undefined) return setting.pattern.text;
  if (setting.choices !== undefined) return (setting.choices.length > 1 ? 'one of ' : '') + setting.choices.join(', ');
  switch (setting.kind) {
    case 'text':
    case 'name':
    case 'choice':
      return `a text that is not empty${setting.mayBeFile === true ? ', or { file: PATH }' : ''}`;
    case 'switch':
      return 'true or false';
    case 'addresses':
      return 'a list of host:port';
    case 'ratios':
      return `a list of ratios ${rangeText({ ...setting, kind: 'ratio' }, input)}, e.g. [80%, 100%]`;
    case 'group-selection':
      return 'none, all, or a list of names and patterns of groups';
    case 'entries':
      return setting.of?.text ?? 'a list or a mapping';
    case 'weights':
      return 'a mapping of node id to weight, e.g. { node-1: 2 }';
    default:
      return `${NOUNS[setting.kind]} ${rangeText(setting, input)} (e.g. ${QUANTITY_EXAMPLES[setting.kind]})`;
  }
}

export function mustBe(allowed: string, got: unknown, remedy: string): FoundMistake {
  return { problem: `must be ${allowed}, got ${show(got)}`, allowed, remedy };
}

export function noSuchGroup(name: string, groups: Iterable<string>, remedy: string): FoundMistake {
  const problem = `must name a configured group, got ${show(name)}`;
  return { problem, allowed: 'a key of groups', remedy: didYouMean(name, groups) || remedy };
}

/** Shows a value in a message: short, on one line, never a structure. */
export function show(input: unknown): string {
  if (typeof input === 'string') return showText(withoutUrlSecrets(input));
  if (Array.isArray(input)) return input.length === 0 ? 'an empty list' : 'a list';
  if (typeof input === 'object' && input !== null) return 'a mapping';
  return typeof input === 'function' || typeof input === 'symbol' ? `a ${typeof input}` : String(input);
}

/**
 * The beginning of a text; of URLs in it without passwords, and without the values of their queries, which may be
 * tokens.
 */
export function withoutUrlSecrets(text: string): string {
  const start = text.slice(0, LOOKED_AT);
  if (!start.includes('://')) return start;
  return start.replace(CREDENTIALS, '://***@').replace(QUERY_VALUE, '$1***');
}

/** Matches name and password in a URL, often part of an address: up to the last @ before a blank. */
const CREDENTIALS = /:\/\/\S*@/g;
/** A part of a query without `=` is all value. */
const QUERY_VALUE = /([?&](?:[^=&#\s]*=)?)[^&#\s]+/g;
/** Characters; the time that the search takes grows with their square. */
const LOOKED_AT = 2000;

function showText(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}

export function remedyFor(setting: Setting, input: unknown): string {
  if (
    typeof input === 'number' &&
    setting.secret === undefined &&
    (setting.pattern !== undefined || setting.kind === 'text')
  ) {
    return `Put it in quotes: "${input}".`;
  }
  if (isRate(setting) && isAboveMost(setting, input)) return `Lower it, or ${removal(setting)}.`;
  if (isNearlyNothing(setting, input)) return `Less is not one in 30 years: write 0, or ${removal(setting)}.`;
  const near =
    typeof input === 'string' ? didYouMean(input, setting.choices ?? []) || strokeRemedy(setting, input) : '';
  if (near !== '') return near;
  if (setting.remedy !== undefined) return setting.remedy;
  if (setting.required === true) return 'There is no default.';
  return `Correct it, or ${removal(setting)}.`;
}

function removal(setting: Setting): string {
  return `remove the key for the default (${defaultText(setting)})`;
}

/** Returns the remedy for the unit in `5/fortnight`; '' = the unit is right. */
function strokeRemedy({ kind }: Setting, text: string): string {
  const unit = unitAfterStroke(text);
  if (unit === undefined || !Object.hasOwn(NOUNS, kind)) return '';
  const per = UNIT_SPELLINGS.get(unit);
  if (kind !== 'rate' && kind !== 'byte-rate') {
    return per === undefined
      ? ''
      : `Write it without "/${unit}": here stands ${NOUNS[kind as QuantityKind]}, not a rate.`;
  }
  if (per === undefined) {
    // One letter is as near to "s" as to "h".
    const near = unit.length === 1 ? '' : didYouMean(unit, UNIT_SPELLINGS.keys());
    return `${near === '' ? '' : `${near} `}The units of time are s, min, h and d, as in 5/min.`;
  }
  return '';
}

export function defaultText(setting: Setting): string {
  if (setting.defaultText !== undefined) return setting.defaultText;
  if (typeof setting.default === 'number') return formatQuantity(setting.kind as QuantityKind, setting.default);
  return setting.default === null ? 'none' : String(setting.default);
}

const NOUNS: Readonly<Record<QuantityKind, string>> = {
  duration: 'a duration',
  count: 'a whole number',
  rate: 'a rate',
  'byte-rate': 'a rate in bytes',
  level: 'a level',
  bytes: 'a size in bytes',
  ratio: 'a ratio',
  factor: 'a number',
};

function rangeText(setting: Setting, input: unknown): string {
  const kind = setting.kind as QuantityKind;
  const { min = 0, max = Infinity } = setting;
  const between = `between ${formatQuantity(kind, min)} and ${formatQuantity(kind, max)}`;
  if (!isRate(setting)) return between;
  if (isNearlyNothing(setting, input)) return `of 0 or of at least ${RATE_LEAST}/s`;
  // The upper bound of rates only keeps arithmetic exact; naming it would distract from the usual mistakes.
  if (!isAboveMost(setting, input)) return `≥ ${formatQuantity(kind, min)}`;
  const isOfOtherUnit = typeof input === 'string' && unitAfterStroke(input) !== undefined;
  return isOfOtherUnit ? `${between}/s` : between;
}
