import type { z } from 'zod';
import { type InputMistake, inputMistakes, showSent } from './input-mistakes.js';
import { isMapping } from './mapping.js';
import { didYouMean } from './nearest-name.js';

interface OptionMistake {
  readonly field: string;
  readonly reason: string;
}

/** Describes what is wrong with a node or its options; null = nothing. */
export function nodeOrOptionMistake(node: unknown, schema: z.ZodType, options: unknown): OptionMistake | null {
  if (typeof (node as { readonly tryAcquire?: unknown } | null | undefined)?.tryAcquire !== 'function') {
    const got = node instanceof Promise ? 'a promise: await createNode' : showSent(node);
    return { field: 'node', reason: `must be a node that createNode has made, got ${got}` };
  }
  if (!isMapping(options))
    return { field: 'options', reason: `must be an object with group, got ${showSent(options)}` };
  return optionMistakes(schema, options);
}

/** Describes all mistakes in options, as one text behind the first's name; null = none. */
export function optionMistakes(schema: z.ZodType, options: unknown): OptionMistake | null {
  const read = schema.safeParse(options);
  if (read.success) return null;
  const [first, ...others] = inputMistakes(schema, options, read.error.issues).map(textsOf);
  const reason = [first.reason, ...others.map((other) => `${other.field} ${other.reason}`)].join('; ');
  return { field: first.field, reason };
}

function textsOf(mistake: InputMistake): OptionMistake {
  const field = mistake.path.join('.');
  switch (mistake.kind) {
    case 'key-unknown': {
      const near = didYouMean(mistake.key, mistake.known);
      const known = `known are ${mistake.known.join(', ')}`;
      return { field: mistake.key, reason: `is not known; ${near === '' ? known : near}` };
    }
    case 'missing':
      return { field, reason: `is missing: ${mistake.says.allowed}` };
    case 'value':
      return { field, reason: `must be ${mistake.says.allowed}, got ${showSent(mistake.got)}` };
    case 'told':
      return { field, reason: mistake.problem };
    case 'not-a-mapping':
      return { field, reason: `must be a mapping, got ${showSent(mistake.got)}` };
  }
}
