import { afterAll } from 'vitest';

/**
 * Files that run in one worker share its globals. One that left a faked clock there let every later file of the worker wait for time that
 * stood still: connections that were never cut, deadlines that never came. A file that leaves a global changed fails, and nobody behind it does.
 */
const NAMES = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'queueMicrotask',
  'Date',
  'performance',
  'fetch',
] as const;

type Globals = Record<string, unknown>;
const globals = globalThis as unknown as Globals;
/** This file is run anew before each of them; what it found first stays under this name. */
const FIRST = 'quotamesh: the globals as the worker began';
globals[FIRST] ??= valuesOf(globals);
const real = globals[FIRST] as Globals;

afterAll(() => {
  const changed = NAMES.filter((name) => globals[name] !== real[name]);
  for (const name of changed) globals[name] = real[name];
  if (changed.length > 0) throw new Error(`this file left other globals behind: ${changed.join(', ')}`);
});

function valuesOf(from: Globals): Globals {
  return Object.fromEntries(NAMES.map((name) => [name, from[name]]));
}
