import { isDeepStrictEqual } from 'node:util';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { GroupConfig, KeyTemplate, ResolvedConfig } from '../../../config/resolved/resolved-config.js';
import { ConfigError, formatMistake } from '../../../config/setting/config-error.js';
import { DIMENSIONS, DIRECTIONS } from '../../../core/base/vocabulary.js';
import type { Attachments } from '../../../core/beside/attachments/attachments.js';
import type { ConfigurationStatus } from '../../api/node-status.js';
import type { GroupsInForce } from '../groups-in-force.js';
import type { KeyTemplates } from '../keys/key-templates.js';
import { isSameValue } from '../same-value.js';
import { definitionHash, templateHash } from './definition-hash.js';
import { settingDifferences } from './setting-differences.js';
import { NAMES_SHOWN_MAX, shown, type YamlDifference } from './yaml-comparison.js';

export interface YamlGroupsParts {
  /** In force since the start. */
  readonly config: ResolvedConfig;
  readonly telemetry: Telemetry;
  readonly inForce: GroupsInForce;
  readonly attachments: Attachments;
  readonly templates: KeyTemplates;
  /** Whether the registry's definition of a group is in force, whatever YAML says. */
  readonly isRegistered: (name: string) => boolean;
  /** What other nodes' YAML has differently, as far as they have told it. */
  readonly differences: () => readonly YamlDifference[];
}

/**
 * The groups of this node's YAML, as the newest configuration without mistakes has them. A configuration is taken as a
 * whole or not at all: one with a mistake changes nothing.
 */
export class YamlGroups {
  /** Configurations read after the start, by what became of them. */
  readonly reloads = { taken: 0, refused: 0 };
  /** Rises with every configuration that is taken. */
  version = 0;
  /** Name of a group, or pattern of a template → hash of its definition. */
  readonly hashes = new Map<string, string>();
  readonly #parts: YamlGroupsParts;
  #groups: ReadonlyMap<string, GroupConfig>;
  /** Names that YAML has had in this process: their numbers are kept for ever. */
  readonly #names: Set<string>;
  #templates: readonly KeyTemplate[] = [];
  #refused: string | null = null;
  #needsRestart: readonly string[] = [];
  #toldHidden: ReadonlySet<string> = new Set();

  constructor(parts: YamlGroupsParts) {
    this.#parts = parts;
    this.#groups = byName(parts.config.groups);
    this.#names = new Set(this.#groups.keys());
    for (const [name, group] of this.#groups) this.hashes.set(name, definitionHash(group));
    this.#hashTemplates([], parts.config.keys.templates);
  }

  /** undefined where YAML has no such group. */
  get(name: string): GroupConfig | undefined {
    return this.#groups.get(name);
  }

  /** Numbers that groups of YAML have taken, those that have gone since included. */
  get numbersTaken(): number {
    return this.#names.size;
  }

  /** Groups, patterns of templates and scopes of this YAML that definitions of run time hide. */
  get hidden(): readonly string[] {
    const { attachments, isRegistered } = this.#parts;
    return [...[...this.hashes.keys()].filter(isRegistered), ...attachments.hidden].sort();
  }

  /** Checks whether YAML defines a group, template or scope of this name. */
  says(name: string): boolean {
    return this.hashes.has(name) || this.#parts.attachments.isConfigured(name);
  }

  /** Logs what has become hidden since the last call, and what YAML says anew although it is hidden. */
  tellHidden(saidAnew: ReadonlySet<string> = new Set()): void {
    const { hidden } = this;
    const news = hidden.filter((name) => saidAnew.has(name) || !this.#toldHidden.has(name));
    this.#toldHidden = new Set(hidden);
    if (news.length === 0) return;
    this.#parts.telemetry.log('warn', 'definitions at run time hide what the configuration says', {
      source: this.#parts.config.source,
      count: hidden.length,
      hidden: news.slice(0, NAMES_SHOWN_MAX),
      remedy: 'Delete what was defined at run time, and the configuration counts again.',
    });
  }

  get status(): ConfigurationStatus {
    const differences = this.#parts.differences();
    const { hidden } = this;
    return {
      source: this.#parts.config.source,
      ...this.reloads,
      refusedBecause: this.#refused,
      needsRestart: this.#needsRestart,
      differingGroups: differences.length,
      differs: differences.slice(0, NAMES_SHOWN_MAX),
      hiddenByRunTime: hidden.length,
      hidden: hidden.slice(0, NAMES_SHOWN_MAX),
    };
  }

  /** For people: what is not as it should be, by kind. */
  get degraded(): Readonly<Record<'refused' | 'needsRestart' | 'differs', readonly string[]>> {
    const settings = this.#needsRestart.join(', ');
    const differences = this.#parts.differences();
    const { groups, nodes } = shown(differences);
    return {
      refused: this.#refused === null ? [] : [`configuration refused, groups stay as they are: ${this.#refused}`],
      needsRestart: settings === '' ? [] : [`changed in the configuration, needs a restart: ${settings}`],
      differs: differences.length === 0 ? [] : [`the YAML of ${nodes} differs from this node's: ${groups}`],
    };
  }

  /**
   * Its groups and attachments are in force from now on, but for those that were defined at run time. A group that only
   * a setting in force still names (defaultGroup, a rule of mqtt) stays until the restart that this setting needs.
   */
  take(config: ResolvedConfig): void {
    const before = this.#groups;
    const after = byName(config.groups);
    for (const name of namesInUse(this.#parts.config)) {
      const held = before.get(name);
      if (held !== undefined && !after.has(name)) after.set(name, held);
    }
    this.#groups = after;
    for (const name of after.keys()) this.#names.add(name);
    const added = [...after.keys()].filter((name) => !before.has(name));
    const removed = [...before.keys()].filter((name) => !after.has(name));
    const changed = [...after.keys()].filter((name) => {
      return before.has(name) && !isSameValue(before.get(name), after.get(name));
    });
    for (const name of [...added, ...changed, ...removed]) this.#apply(name);
    this.#parts.attachments.configure(config.attachments);
    this.#hashTemplates(this.#templates, config.keys.templates);
    this.#parts.templates.configure(config.keys.templates);
    this.version++;
    this.reloads.taken++;
    this.#refused = null;
    const counts = { added: added.length, changed: changed.length, removed: removed.length };
    const names = { groups: [...added, ...changed, ...removed].slice(0, NAMES_SHOWN_MAX) };
    const audit = { audit: true, outcome: 'accepted', source: config.source };
    this.#parts.telemetry.log('info', 'configuration taken', { ...audit, ...counts, ...names });
    const lost = changed.flatMap((name) => lostLimits(before.get(name), after.get(name)));
    if (lost.length > 0) {
      const facts = { source: config.source, count: lost.length, limits: lost.slice(0, NAMES_SHOWN_MAX) };
      this.#parts.telemetry.log('warn', 'the configuration takes limits away', facts);
    }
    this.tellHidden(new Set([...added, ...changed]));
    this.#compareSettings(config);
  }

  /** What was in force stays so. Said once, however often the same file is read. */
  refuse(error: unknown): void {
    this.reloads.refused++;
    const reason = reasonOf(error);
    if (reason === this.#refused) return;
    this.#refused = reason;
    const mistakes = error instanceof ConfigError ? error.report : undefined;
    const remedy = error instanceof QuotameshError ? error.remedy : undefined;
    this.#parts.telemetry.log('error', 'configuration refused, groups stay as they are', {
      audit: true,
      outcome: 'refused',
      source: this.#parts.config.source,
      reason,
      mistakes,
      remedy,
    });
  }

  #hashTemplates(before: readonly KeyTemplate[], after: readonly KeyTemplate[]): void {
    for (const { pattern } of before) this.hashes.delete(pattern);
    for (const template of after) this.hashes.set(template.pattern, templateHash(template));
    this.#templates = after;
  }

  #apply(name: string): void {
    const config = this.#groups.get(name);
    if (config === undefined) this.hashes.delete(name);
    else this.hashes.set(name, definitionHash(config));
    const { inForce, isRegistered } = this.#parts;
    if (isRegistered(name)) return;
    if (config === undefined) inForce.remove(name);
    else inForce.define(config);
  }

  #compareSettings(config: ResolvedConfig): void {
    const settings = settingDifferences(this.#parts.config, config);
    const isNews = !isDeepStrictEqual(settings, this.#needsRestart);
    this.#needsRestart = settings;
    if (settings.length > 0 && isNews) {
      this.#parts.telemetry.log('warn', 'settings have changed that only a restart puts in force', { settings });
    }
  }
}

function byName(groups: readonly GroupConfig[]): Map<string, GroupConfig> {
  return new Map(groups.map((group) => [group.name, group]));
}

function namesInUse({ defaultGroup, mqtt }: ResolvedConfig): readonly string[] {
  const ruled = mqtt.rules.flatMap(({ group }) => group ?? []);
  return defaultGroup === null ? ruled : [defaultGroup, ...ruled];
}

/** The first mistake, with location and remedy. */
function reasonOf(error: unknown): string {
  if (!(error instanceof ConfigError)) return error instanceof Error ? error.message : String(error);
  const [first, ...others] = error.mistakes;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return first === undefined ? error.message : `${formatMistake(first)}${more}`;
}

/**
 * The limits that a group had before and has not now, as `orders.publish.bytes`. A file that was cut at the end of a
 * line is a valid configuration and cannot be refused, but people should see which limits went with the rest of it.
 */
export function lostLimits(before: GroupConfig | undefined, after: GroupConfig | undefined): string[] {
  if (before === undefined || after === undefined) return [];
  return DIRECTIONS.flatMap((direction) => {
    const lost = DIMENSIONS.filter((_, dimension) => {
      return isLimit(before.quota[direction][dimension]) && !isLimit(after.quota[direction][dimension]);
    });
    return lost.map((dimension) => `${after.name}.${direction}.${dimension}`);
  });
}

function isLimit(rate: number | undefined): boolean {
  return rate !== undefined && rate < Infinity;
}
