import { printable } from '../../src/base/errors/printable.js';
import { didYouMean } from '../../src/base/input/nearest-name.js';
import { parseQuantity } from '../../src/config/setting/quantity.js';
import { bitsOf, groupIdOf } from '../../src/core/base/ids.js';
import { KEYS_MAX, type TraceOptions } from './trace.js';
import { quoted, type TraceLocation, traceMistake } from './trace-mistake.js';

export interface TraceColumns {
  readonly delimiter: string | undefined;
  readonly names: readonly string[];
  readonly time: number;
  readonly messages: Amount;
  readonly bytes: Amount;
  /** Returns the node, 0 … nodes − 1. */
  readonly nodeOf: (row: readonly string[], rowNumber: number) => number;
  readonly keyOf: (row: readonly string[], location: TraceLocation) => string;
  /** Milliseconds of the file; 0 = never. */
  readonly retryAfterOf: (row: readonly string[], location: TraceLocation) => number;
}

/** Constant, or columns to add up. */
export type Amount = { readonly constant: number } | { readonly columns: readonly number[]; readonly flag: string };

/** @param place the header's */
export function resolveColumns(header: readonly string[], options: TraceOptions, place: TraceLocation): TraceColumns {
  // A composed and a decomposed ü look alike, and a shell may give the other one.
  const names = header.map((name) => name.normalize());
  const indexOf: IndexOf = (asked, flag) => {
    const name = asked.normalize();
    const at = names.indexOf(name);
    if (at !== names.lastIndexOf(name)) {
      const problem = `names the column ${quoted(name)}, which the header has more than once`;
      throw traceMistake(place, flag, problem, 'a name that only one column has');
    }
    if (at !== -1) return at;
    const near = didYouMean(name, names);
    const problem = `names the column ${quoted(name)}, which the header does not have${near === '' ? '' : `. ${printable(near)}`}`;
    throw traceMistake(place, flag, problem, names.map((known) => quoted(known)).join(', '));
  };
  const amount = (text: string, flag: string): Amount => {
    if (/^\d+(\.\d+)?$/.test(text)) return { constant: Number(text) };
    return { columns: text.split('+').map((name) => indexOf(name.trim(), flag)), flag };
  };
  return {
    delimiter: options.delimiter,
    names,
    time: indexOf(options.time, '--time'),
    messages: amount(options.messages, '--messages'),
    bytes: amount(options.bytes, '--bytes'),
    nodeOf: nodeOf(options, indexOf),
    keyOf: keyOf(options, indexOf),
    retryAfterOf: retryAfterOf(options, indexOf),
  };
}

/** Sums an amount; throws TRACE_INVALID with the field. */
export function amountIn(amount: Amount, row: readonly string[], columns: TraceColumns, place: TraceLocation): number {
  if ('constant' in amount) return amount.constant;
  let total = 0;
  for (const at of amount.columns) {
    const text = row[at];
    const number = numberIn(text, columns.delimiter);
    if (!(number <= AMOUNT_MAX)) {
      const name = columns.names[at];
      const allowed = `a number from 0 to 1e15, without a sign or a unit, with a point before its fraction (${amount.flag})`;
      throw traceMistake(place, name, `is ${quoted(text)}`, allowed);
    }
    total += number;
  }
  return total;
}

/** Parses a number, NaN = none. `1,100` is 1100 where commas divide fields, and none elsewhere. */
function numberIn(text: string, delimiter: string | undefined): number {
  if (AMOUNT.test(text)) return Number(text);
  const isThousands = THOUSANDS.test(text) && (delimiter === ',' || text.indexOf(',') !== text.lastIndexOf(','));
  return isThousands ? Number(text.replaceAll(',', '')) : Number.NaN;
}

/** Finds a column; throws TRACE_INVALID with the flag that names it. */
type IndexOf = (name: string, flag: string) => number;

const AMOUNT = /^\d{1,16}(\.\d{1,12})?([eE][+-]?\d{1,2})?$/;
const THOUSANDS = /^\d{1,3}(,\d{3}){1,5}(\.\d{1,12})?$/;
const AMOUNT_MAX = 1e15;

/** Chooses nodes: `round-robin`, `hash` of row and number, or a column, hashed beyond the nodes. */
function nodeOf({ by, nodes }: TraceOptions, indexOf: IndexOf): TraceColumns['nodeOf'] {
  if (by === 'round-robin') return (_, rowNumber) => rowNumber % nodes;
  if (by === 'hash') return (row, rowNumber) => bitsOf(groupIdOf('trace', `${rowNumber},${row.join(',')}`)) % nodes;
  const at = indexOf(by, '--by');
  const known = new Map<string, number>();
  return (row) => {
    const text = row[at];
    const node = known.get(text);
    if (node !== undefined) return node;
    if (known.size === nodes) return bitsOf(groupIdOf('trace', text)) % nodes;
    known.set(text, known.size);
    return known.size - 1;
  };
}

function keyOf({ per }: TraceOptions, indexOf: IndexOf): TraceColumns['keyOf'] {
  if (per === undefined) return () => '';
  const at = indexOf(per, '--per');
  const known = new Set<string>();
  return (row, location) => {
    const text = row[at];
    if (known.size === KEYS_MAX && !known.has(text)) {
      throw traceMistake(location, per, `is the ${KEYS_MAX + 1}th different text`, `at most ${KEYS_MAX} for --per`);
    }
    known.add(text);
    return text;
  };
}

/** A column may be empty where a row does not ask again. */
function retryAfterOf({ retryAfter }: TraceOptions, indexOf: IndexOf): TraceColumns['retryAfterOf'] {
  if (retryAfter === undefined) return () => 0;
  const always = parseQuantity('duration', retryAfter);
  if (always >= 0) return () => always;
  const at = indexOf(retryAfter, '--retry-after');
  return (row, location) => {
    const text = row[at];
    const ms = text === '' ? 0 : parseQuantity('duration', text);
    if (ms >= 0) return ms;
    throw traceMistake(location, retryAfter, `is ${quoted(text)}`, 'a duration (e.g. 500ms or 2s), or nothing');
  };
}
