import { isMapping, type Mapping } from '../../base/input/mapping.js';
import { didYouMean } from '../../base/input/nearest-name.js';
import { KeyPattern } from '../../core/account/keys/key-pattern.js';
import type { KeysConfig } from '../resolved/resolved-config.js';
import { GROUP, type GroupSection } from '../schema/groups.js';
import { ALLOW_LIMITS, KEYS, type LimitRole } from '../schema/keys.js';
import { readSection } from '../schema/read-section.js';
import { KINDS_WITH_TOPIC } from '../schema/topic-kinds.js';
import { type ConfigPath, Findings } from '../setting/findings.js';
import { keyNameOf } from '../setting/key-name.js';
import { rowsOf } from '../setting/section.js';
import { mustBe, show } from '../setting/setting-text.js';
import type { Sound } from '../setting/text-file.js';
import { hasRate } from '../setting/written-rate.js';
import { burstInFullAt, withBurstInFull } from './burst-in-full.js';
import { checkBudgets } from './check-budgets.js';
import { checkGroups } from './check-groups.js';
import { checkSlots } from './check-slots.js';
import { mergedLayers } from './read-groups.js';

export type KeyBounds = Pick<KeysConfig, 'maxLive' | 'publishNames'>;

export interface KeysRead {
  readonly bounds: Sound<KeyBounds>;
  readonly templates: readonly TemplateRead[];
}

export interface TemplateRead {
  readonly pattern: KeyPattern;
  readonly settings: Sound<GroupSection>;
  /** Whole name of a key → its settings, over the template's. */
  readonly overrides: ReadonlyMap<string, Sound<GroupSection>>;
  readonly allowLimits: AllowedLimitsRead | null;
}

interface AllowedLimitsRead {
  /** undefined = a mistake. */
  readonly role: LimitRole | undefined;
  readonly quota: Sound<GroupSection>['quota'];
}

/** The section `keys`: bounds, and templates by the patterns of their names. */
export function readKeys(root: Mapping, findings: Findings, isAlone: boolean): KeysRead {
  const written = root.keys ?? {};
  if (!isMapping(written)) {
    const allowed = 'a mapping of patterns like "key:{id}" to settings of a group';
    findings.add(['keys'], mustBe(allowed, written, 'Indent the patterns below it.'));
    return { bounds: readSection(findings, KEYS, ['keys'], {}), templates: [] };
  }
  const isBound = (name: string) => Object.hasOwn(rowsOf(KEYS), name);
  const entries = Object.entries(written);
  const bounds = readSection(findings, KEYS, ['keys'], Object.fromEntries(entries.filter(([name]) => isBound(name))));
  const templates = entries.flatMap(([name, settings]) => {
    return isBound(name) ? [] : readTemplate(name, settings, root.defaults, findings);
  });
  checkOverlaps(templates, findings);
  if (isAlone && templates.length > 0) {
    findings.add(['keys'], {
      problem: 'needs a topic: with kind none nobody publishes what was taken of a key',
      allowed: `a topic of kind ${KINDS_WITH_TOPIC}`,
      remedy: 'Share a topic, or use perClient of a group.',
    });
  }
  return { bounds, templates };
}

function readTemplate(text: string, written: unknown, defaults: unknown, findings: Findings): TemplateRead[] {
  const path = ['keys', text];
  const pattern = KeyPattern.of(text);
  if (typeof pattern === 'string') {
    const allowed = 'a pattern of letters, digits and . _ : / @ + ~ - with at least one field like {id}';
    const remedy = didYouMean(text, Object.keys(rowsOf(KEYS))) || 'For example "key:{id}".';
    findings.add(path, { problem: pattern, allowed, remedy }, { part: 'key' });
    return [];
  }
  const { overrides = null, allowLimits = null, ...settings } = isMapping(written) ? written : NOTHING;
  const full = readLayer(path, isMapping(written) ? settings : written, defaults, findings);
  if (overrides !== null && !isMapping(overrides)) {
    const allowed = 'a mapping of keys to settings of a group';
    findings.add([...path, 'overrides'], mustBe(allowed, overrides, 'Indent the keys below it.'));
  }
  const read = new Map<string, Sound<GroupSection>>();
  for (const [key, override] of Object.entries(isMapping(overrides) ? overrides : NOTHING)) {
    const at = [...path, 'overrides', key];
    const name = pattern.fields.length === 1 && !pattern.matches(key) ? pattern.nameWith(key) : key;
    if (pattern.matches(name)) {
      read.set(keyNameOf(name), readLayer(at, override, full.merged, findings).settings);
      continue;
    }
    const [field, ...others] = pattern.fields;
    const allowed = others.length === 0 ? `a value of {${field}}, or a whole name` : 'the whole name of a key';
    const problem = `is no key of ${show(pattern.text)}`;
    findings.add(at, { problem, allowed, remedy: 'Correct the name.' }, { part: 'key' });
  }
  return [{ pattern, settings: full.settings, overrides: read, allowLimits: readAllowed(path, allowLimits, findings) }];
}

function readAllowed(path: ConfigPath, written: unknown, findings: Findings): AllowedLimitsRead | null {
  if (written === null) return null;
  const at = [...path, 'allowLimits'];
  const { quota, ...others } = isMapping(written) ? written : NOTHING;
  const { role } = readSection(findings, ALLOW_LIMITS, at, isMapping(written) ? others : written);
  // Read as the quota of a group, so that its mistakes are told as those are.
  const read = readSection(findings, GROUP, at, { quota });
  if (isMapping(written) && !hasRate(read.quota, ['messages', 'bytes'])) {
    const allowed = 'the highest quota that a request may ask for, in messages or bytes';
    const remedy = 'For example quota: { publish: { messagesPerSecond: 6000/min } }.';
    findings.add(at, { problem: `must have ${allowed}`, allowed, remedy });
  }
  return { role, quota: read.quota };
}

/** A template or an override, with what is laid under it. */
function readLayer(path: ConfigPath, written: unknown, below: unknown, findings: Findings) {
  const own = burstInFullAt(path, written ?? {}, findings);
  if (isMapping(own) && (own.shadow ?? null) !== null) {
    findings.add([...path, 'shadow'], {
      problem: 'cannot be planned for keys: each of them would be two',
      allowed: 'mode: shadow, or the name of a single group',
      remedy: 'Set mode: shadow in the template, or plan it for a group.',
    });
  }
  const merged = mergedLayers(own, withoutShadow(withBurstInFull(below)));
  if (isMapping(merged) && merged.promise === 'strict') {
    const problem = 'strict cannot be kept for keys: each of them would need a bucket of its own in the log';
    const remedy = 'Write promise: relaxed, or make a group of the key.';
    findings.add([...path, 'promise'], { problem, allowed: 'relaxed', remedy });
  }
  const count = findings.mistakes.length;
  readSection(findings, GROUP, path, own);
  // Mistakes of the layers below are added at their own paths.
  const settings = readSection(new Findings(''), GROUP, path, merged);
  if (findings.mistakes.length === count) checkAsGroup(path, settings, merged, findings);
  return { settings, merged };
}

/** Checks a key's settings as a group's; mistakes stand at its path. */
function checkAsGroup(path: ConfigPath, settings: Sound<GroupSection>, merged: unknown, findings: Findings): void {
  // No group has such a name, and what is found at it is told at the path.
  const name = `{${path.join(' ')}}`;
  findings.setWritten(['groups', name], path);
  checkGroups(new Map([[name, settings]]), { groups: { [name]: merged } }, findings);
  checkSlots(new Map([[name, settings]]), findings, null);
  checkBudgets(new Map([[name, settings]]), findings, null);
}

function checkOverlaps(templates: readonly TemplateRead[], findings: Findings): void {
  templates.forEach(({ pattern }, at) => {
    const twin = templates.slice(0, at).find((other) => {
      return other.pattern.literals === pattern.literals && other.pattern.overlaps(pattern);
    });
    if (twin === undefined) return;
    const problem = `matches names that ${show(twin.pattern.text)} matches, and neither is more specific`;
    const allowed = 'patterns of which one has more characters outside of its fields';
    const remedy = 'Join the two, or put more text into one of them.';
    findings.add(['keys', pattern.text], { problem, allowed, remedy }, { part: 'key' });
  });
}

const NOTHING: Mapping = {};

/** Leaves out what `defaults` plans for groups alone. */
function withoutShadow(below: unknown): unknown {
  if (!isMapping(below)) return below;
  const { shadow: _, ...others } = below;
  return others;
}
