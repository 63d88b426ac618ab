import type { z } from 'zod';
import { type InputMistake, inputMistakes } from '../../base/input/input-mistakes.js';
import { didYouMean } from '../../base/input/nearest-name.js';
import { gluedRemedy, shownKey } from '../schema/read-section.js';
import type { ConfigPath, Findings, FoundMistake } from '../setting/findings.js';
import { show } from '../setting/setting-text.js';

/** Texts of mistakes in one entry of a list or mapping. */
export interface EntryTexts {
  /** Page with examples. */
  readonly docs: string;
  /** Shows a wrong value that may be a secret. */
  readonly shown?: (value: unknown) => string;
  /** Remedy that says more than to look there. */
  readonly remedy?: (value: unknown) => string;
}

/** Reads one entry; undefined = its mistakes were added. */
export function readEntry<Value>(
  schema: z.ZodType<Value>,
  written: unknown,
  at: ConfigPath,
  findings: Findings,
  texts: EntryTexts,
): Value | undefined {
  const parsed = schema.safeParse(written);
  if (parsed.success) return parsed.data;
  for (const mistake of inputMistakes(schema, written, parsed.error.issues)) {
    const path = [...at, ...mistake.path];
    if (mistake.kind === 'key-unknown') addUnknownKey(mistake.key, mistake.known, path, findings);
    else findings.add(path, findingOf(mistake, texts));
  }
  return undefined;
}

function addUnknownKey(key: string, known: readonly string[], at: ConfigPath, findings: Findings): void {
  const allowed = known.join(', ');
  const remedy = gluedRemedy(key) || didYouMean(key, known) || `Known keys here: ${allowed}.`;
  const finding = { problem: 'is not a known key', allowed, remedy };
  findings.add([...at, shownKey(key)], finding, { part: 'key', writtenAt: [...at, key] });
}

function findingOf(mistake: Exclude<InputMistake, { kind: 'key-unknown' }>, texts: EntryTexts): FoundMistake {
  if (mistake.kind === 'told')
    return { problem: mistake.problem, ...(mistake.params as Omit<FoundMistake, 'problem'>) };
  if (mistake.kind === 'missing') {
    const { allowed } = mistake.says;
    return { problem: 'is missing', allowed, remedy: `Add it: ${allowed}.` };
  }
  const { got } = mistake;
  const isMapping = mistake.kind === 'not-a-mapping';
  const allowed = isMapping ? `a mapping with the keys ${mistake.known.join(', ')}` : mistake.says.allowed;
  const isHidden =
    typeof got === 'string' && ((isMapping && texts.shown !== undefined) || (!isMapping && mistake.says.secret));
  const shown = isHidden ? 'another text (not shown)' : (texts.shown ?? show)(got);
  const remedy = texts.remedy?.(got) || `See ${texts.docs} for examples.`;
  return { problem: `must be ${allowed}, got ${shown}`, allowed, remedy };
}
