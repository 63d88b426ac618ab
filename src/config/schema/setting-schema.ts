import { z } from 'zod';
import { didYouMean } from '../../input/nearest-name.js';
import type { ConfigPath, Finding, Findings } from '../setting/findings.js';
import { FOREIGN_KEYS } from '../setting/foreign-keys.js';
import type { Setting } from '../setting/setting.js';
import { show } from '../setting/setting-text.js';
import { readValue } from '../setting/setting-value.js';
import { gluedRemedy, shownKey } from '../setting/unknown-keys.js';
import { SECTIONS, SETTINGS, type SettingRows } from './all-settings.js';

/** A strict zod schema of nested mappings, from rows like `quota.publish.messagesPerSecond`. Every key may be null. */
export function schemaOf(rows: SettingRows, { leafOf = leafSchema, besides = {} }: SchemaOptions = {}): z.ZodType {
  const shape: Record<string, z.ZodType> = { ...besides };
  for (const [name, below] of childrenOf(rows)) {
    const own = below.get('');
    shape[name] = (own === undefined ? schemaOf(Object.fromEntries(below), { leafOf }) : leafOf(own)).optional();
  }
  return z.strictObject(shape).nullable();
}

interface SchemaOptions {
  readonly leafOf?: (setting: Setting) => z.ZodType;
  /** Keys of the outermost mapping that are no settings. */
  readonly besides?: Readonly<Record<string, z.ZodType>>;
}

/** A section's rows with the schema made of them, and the keys that stand beside them. */
export interface Shape {
  readonly rows: SettingRows;
  readonly schema: z.ZodType;
  readonly besides: readonly string[];
}

export function shapeOf(rows: SettingRows, besides: readonly string[] = []): Shape {
  const schemas = Object.fromEntries(besides.map((key) => [key, z.unknown().optional()]));
  return { rows, schema: schemaOf(rows, { besides: schemas }), besides };
}

/** Adds every mistake of what stands at `path` to `findings`. What stands at `shape.besides` is checked elsewhere. */
export function checkShape(findings: Findings, shape: Shape, path: ConfigPath, input: unknown): void {
  for (const issue of shape.schema.safeParse(input).error?.issues ?? []) {
    const below = issue.path as (string | number)[];
    const at = [...path, ...below];
    if (issue.code === 'custom') {
      findings.add(at, { problem: issue.message, ...(issue.params as Omit<Finding, 'problem'>) });
      continue;
    }
    const known = keysBelow(shape.rows, below).concat(below.length === 0 ? shape.besides : []);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) {
        const options = { part: 'key', writtenAt: [...at, key] } as const;
        findings.add([...at, shownKey(key)], unknownKey(key, known), options);
      }
    } else {
      findings.add(at, notAMapping(known, lookUp(input, below)));
    }
  }
}

function unknownKey(key: string, known: readonly string[]): Finding {
  const allowed = known.join(', ');
  const near = gluedRemedy(key) || didYouMean(key, known) || elsewhere(key);
  const remedy = foreignRemedy(key) ?? (near || `Known keys here: ${allowed}.`);
  return { problem: 'is not a known key', allowed, remedy, cause: 'key-unknown' };
}

export function notAMapping(known: readonly string[], input: unknown): Finding {
  const allowed = `a mapping with the keys ${known.join(', ')}`;
  // Somebody may have written a password here.
  const got = typeof input === 'string' ? 'a text' : show(input);
  return { problem: `must be ${allowed}, got ${got}`, allowed, remedy: 'Indent the keys below it.' };
}

function leafSchema(setting: Setting): z.ZodType {
  return z.unknown().superRefine((input, context) => {
    if (input === null || input === undefined) return;
    for (const { at, problem, ...params } of readValue(setting, input).problems) {
      context.addIssue({ code: 'custom', path: [...at], message: problem, params });
    }
  });
}

/** First part of the keys → rows below it; the row itself, if there is one, under ''. */
function childrenOf(rows: SettingRows): ReadonlyMap<string, Map<string, Setting>> {
  const children = new Map<string, Map<string, Setting>>();
  for (const [key, setting] of Object.entries(rows)) {
    const [name = '', ...rest] = key.split('.');
    const below = children.get(name) ?? new Map<string, Setting>();
    children.set(name, below.set(rest.join('.'), setting));
  }
  return children;
}

function keysBelow(rows: SettingRows, path: ConfigPath): readonly string[] {
  const prefix = path.map((part) => `${part}.`).join('');
  const below = Object.keys(rows).filter((key) => key.startsWith(prefix));
  return [...new Set(below.map((key) => key.slice(prefix.length).split('.')[0] as string))];
}

function foreignRemedy(key: string): string | undefined {
  if (key === '<<') return 'Merge keys are not read: put what groups share below defaults.';
  const foreign = FOREIGN_KEYS.find((row) => row.key === key);
  return foreign && `That is ${foreign.from}'s name; here it is ${foreign.ours} (docs/settings.md).`;
}

/** The key exists, only not here. */
function elsewhere(key: string): string {
  for (const section of SECTIONS) {
    const found = Object.keys(section.rows).find((known) => known === key || known.split('.')[0] === key);
    if (found === undefined) continue;
    if (section.path === 'topic') return `It belongs to a ${section.title.toLowerCase()}.`;
    if (section === SETTINGS.group) return 'It belongs to a group: put it below groups.<name> or defaults.';
    return section.path === '' ? 'It belongs to the top level.' : `It belongs below ${section.path}.`;
  }
  return '';
}

function lookUp(input: unknown, path: readonly PropertyKey[]): unknown {
  let current = input;
  for (const part of path) current = (current as Record<PropertyKey, unknown> | null | undefined)?.[part];
  return current;
}
