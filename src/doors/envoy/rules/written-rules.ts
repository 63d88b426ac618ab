import { formatMistake, MISTAKES_MAX, type Mistake } from '../../../config/setting/config-error.js';
import type { FoundMistake } from '../../../config/setting/findings.js';
import type { RuleMetadata } from './rule-metadata.js';

/** One domain as a file or an xDS resource writes it. */
export interface WrittenRules {
  readonly place: RulePlace;
  readonly domain: string;
  readonly descriptors: readonly WrittenDescriptor[];
}

export interface WrittenDescriptor {
  readonly place: RulePlace;
  readonly key: string;
  /** '' = every value; `*` in it stands for any text. */
  readonly value: string;
  readonly limit: WrittenLimit | null;
  readonly isShadow: boolean;
  readonly isQuota: boolean;
  /** True = all values of a wildcard have one limit together. */
  readonly sharesThreshold: boolean;
  /** Null = none. */
  readonly metadata: RuleMetadata | null;
  readonly descriptors: readonly WrittenDescriptor[];
}

export interface WrittenLimit {
  readonly place: RulePlace;
  /** As written; '' = none. */
  readonly unit: string;
  /** null = not written. */
  readonly requestsPerUnit: number | null;
  readonly isUnlimited: boolean;
  /** Name for rules that replace this one; '' = none. */
  readonly label: string;
  readonly replaces: readonly string[];
}

/** Place of something written; xDS has no lines. */
export type RulePlace = Pick<Mistake, 'file' | 'line' | 'column' | 'path'>;

/** Tells of something that does not do what its writer may expect. */
export interface RuleNote extends RulePlace {
  readonly note: string;
}

/** Collects mistakes of rules, and notes. */
export class RuleFindings {
  readonly mistakes: Mistake[] = [];
  readonly notes: RuleNote[] = [];

  add(place: RulePlace, { problem, allowed, remedy }: FoundMistake): void {
    if (this.mistakes.length >= MISTAKES_MAX) return;
    const { file, line, column, path } = place;
    this.mistakes.push({ file, line, column, path, problem, allowed, remedy });
  }

  note({ file, line, column, path }: RulePlace, note: string): void {
    if (this.notes.length < NOTES_MAX) this.notes.push({ file, line, column, path, note });
  }
}

/** Bounds notes: a generated folder has the same one everywhere. */
const NOTES_MAX = 1000;

/** `rules/edge.yaml:12:5: descriptors[1].detailed_metric changes no metric.` */
export function formatNote({ note, ...place }: RuleNote): string {
  return formatMistake({ ...place, problem: note, allowed: '', remedy: '' });
}

/** Says in a few words where a rule stands: `line 8`, or `line 8 of b.yaml` in another file. */
export function shownPlace(place: RulePlace, from: RulePlace): string {
  if (place.line === null) return `${place.path} of ${place.file}`;
  return place.file === from.file ? `line ${place.line}` : `line ${place.line} of ${place.file}`;
}
