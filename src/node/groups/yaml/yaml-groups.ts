import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';
import { messageOf, QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { isMapping, type Mapping } from '../../../base/input/mapping.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import { describeGroupConfig } from '../../../config/describe/describe-config.js';
import type {
  GroupConfig,
  KeyTemplate,
  ListenerTlsConfig,
  ResolvedConfig,
} from '../../../config/resolved/resolved-config.js';
import { isStrictGroup } from '../../../config/resolved/strict-quota.js';
import { ConfigError, formatMistake } from '../../../config/setting/config-error.js';
import { DIMENSIONS, DIRECTIONS } from '../../../core/base/vocabulary.js';
import type { Attachments } from '../../../core/beside/attachments/attachments.js';
import type { ConfigurationStatus } from '../../api/node-status.js';
import type { GroupsInForce } from '../groups-in-force.js';
import type { KeyTemplates } from '../keys/key-templates.js';
import { isSameValue } from '../least-definition.js';
import { RuleOrigins } from './rule-origins.js';
import { NAMES_SHOWN_MAX, STRICT_MARK, shown, type YamlDifference } from './yaml-comparison.js';

interface YamlGroupsParts {
  /** Configuration in force since the start. */
  readonly config: ResolvedConfig;
  readonly telemetry: Telemetry;
  readonly inForce: GroupsInForce;
  readonly attachments: Attachments;
  readonly templates: KeyTemplates;
  /** Tests if the registry's definition hides YAML's. */
  readonly isRegistered: (name: string) => boolean;
  /** Differences of other nodes' YAML, as published. */
  readonly differences: () => readonly YamlDifference[];
}

/** Keeps YAML's groups as of the newest configuration without mistakes; it is taken as a whole or not at all. */
export class YamlGroups {
  /** Configurations read after the start, by outcome. */
  readonly reloads = { taken: 0, refused: 0 };
  /** Rises with every accepted configuration. */
  version = 0;
  /** Rules of a door that groups and templates were made of. */
  readonly rules = new RuleOrigins();
  /** Group or pattern → hash of its definition. */
  readonly hashes = new Map<string, string>();
  readonly #parts: YamlGroupsParts;
  #groups: ReadonlyMap<string, GroupConfig>;
  /** Names that YAML had in this process; their numbers stay. */
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
    this.#hashTemplates(parts.config.keys.templates);
  }

  get(name: string): GroupConfig | undefined {
    return this.#groups.get(name);
  }

  /** Numbers given to groups of YAML, gone ones included. */
  get numbersTaken(): number {
    return this.#names.size;
  }

  /** Groups, patterns and scopes that run time hides. */
  get hidden(): readonly string[] {
    const { attachments, isRegistered } = this.#parts;
    return [...[...this.hashes.keys()].filter(isRegistered), ...attachments.hidden].sort();
  }

  /** Tests if YAML defines this group, template or scope. */
  says(name: string): boolean {
    return this.hashes.has(name) || this.#parts.attachments.isConfigured(name);
  }

  /** Logs what is newly hidden, and hidden entries that YAML adds anew. */
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

  /** Faults for people, by kind. */
  get degraded(): Readonly<Record<'refused' | 'needsRestart' | 'differs' | 'rules' | 'rulesAway', readonly string[]>> {
    const settings = this.#needsRestart.join(', ');
    const differences = this.#parts.differences();
    const { groups, nodes } = shown(differences);
    const { refused, serverAway } = this.rules;
    return {
      rulesAway:
        serverAway === null ? [] : [`the server of Envoy's rules is away, rules stay as they are: ${serverAway}`],
      rules: refused === null ? [] : [`rules of Envoy refused, those in force stay: ${refused}`],
      refused: this.#refused === null ? [] : [`configuration refused, groups stay as they are: ${this.#refused}`],
      needsRestart: settings === '' ? [] : [`changed in the configuration, needs a restart: ${settings}`],
      differs: differences.length === 0 ? [] : [`the YAML of ${nodes} differs from this node's: ${groups}`],
    };
  }

  /**
   * Puts groups and attachments in force, unless run time defines them. A group named by a setting that needs a restart
   * (defaultGroup, rules of mqtt) stays until then.
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
    this.#hashTemplates(config.keys.templates);
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
    const settings = settingDifferences(this.#parts.config, config);
    if (settings.length > 0 && !isDeepStrictEqual(settings, this.#needsRestart)) {
      this.#parts.telemetry.log('warn', 'settings have changed that only a restart puts in force', { settings });
    }
    this.#needsRestart = settings;
  }

  /** Keeps the old configuration; logs a mistake once. */
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

  #hashTemplates(after: readonly KeyTemplate[]): void {
    for (const { pattern } of this.#templates) this.hashes.delete(pattern);
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
}

function byName(groups: readonly GroupConfig[]): Map<string, GroupConfig> {
  return new Map(groups.map((group) => [group.name, group]));
}

function namesInUse({ defaultGroup, mqtt }: ResolvedConfig): readonly string[] {
  const ruled = mqtt.rules.flatMap(({ group }) => group ?? []);
  return defaultGroup === null ? ruled : [defaultGroup, ...ruled];
}

/** Returns the first mistake, with location and remedy. */
function reasonOf(error: unknown): string {
  if (!(error instanceof ConfigError)) return messageOf(error);
  const [first, ...others] = error.mistakes;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return first === undefined ? error.message : `${formatMistake(first)}${more}`;
}

/** Lists limits that a group has lost, as `orders.publish.bytes`: a truncated file is valid. */
function lostLimits(before: GroupConfig | undefined, after: GroupConfig | undefined): string[] {
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

/** Returns 8 hexadecimal digits, equal for equal meaning; about 10 µs. A strict group has `STRICT_MARK` before them. */
export function definitionHash(group: GroupConfig): string {
  return `${isStrictGroup(group) ? STRICT_MARK : ''}${hashOf(meaningOf(group))}`;
}

/** Returns a template's, with its overrides. */
function templateHash({ pattern, group, overrides, allowLimits }: KeyTemplate): string {
  return hashOf({
    pattern,
    group: meaningOf(group),
    overrides: Object.fromEntries(overrides.map((override) => [override.name, meaningOf(override)])),
    allowLimits: allowLimits && { role: allowLimits.role, quota: allowLimits.quota },
  });
}

/** Describes a group without the units in which its rates are written. */
function meaningOf(group: GroupConfig): Mapping {
  const { quota, cost, perTopic, perClient } = group;
  return { ...describeGroupConfig(group), quota, cost, perTopic, perClient };
}

function hashOf(described: unknown): string {
  return crc32(JSON.stringify(inOrder(described)))
    .toString(16)
    .padStart(8, '0');
}

/** Sorts keys: nodes may write weights in another order. */
function inOrder(value: unknown): unknown {
  if (!isMapping(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key])]));
}

/** Lists paths of differing settings that no reload changes: `timing.heartbeatMs`. Values may be secrets. */
export function settingDifferences(one: ResolvedConfig, other: ResolvedConfig): readonly string[] {
  const authGoes = one.auth !== null && other.auth === null ? ['auth'] : [];
  return [...authGoes, ...differences(coldOf(one), coldOf(other), '').filter((path) => path !== 'topic.nodeCount')];
}

/**
 * Returns the settings that need a restart. Groups, templates, attachments, tokens and listeners' certificates
 * (access/listener-tls.ts) follow the files; the count of nodes without a topic is part of every group
 * (build-config.ts).
 */
function coldOf(config: ResolvedConfig): Readonly<Record<string, unknown>> {
  const { groups, keys, attachments, source, files, auth, nodeId: node, http, mqtt, ...cold } = config;
  const { templates: _hot, ...bounds } = keys;
  // Another unit of time is the same limit.
  const { asWritten: _, ...limits } = cold.limits;
  return { node, ...cold, keys: bounds, limits, http: coldListener(http), mqtt: coldListener(mqtt) };
}

function coldListener<Listener extends { readonly tls: ListenerTlsConfig | null }>({ tls, ...others }: Listener) {
  return { ...others, tls: tls && { clientCa: tls.clientCa !== null, clientCertificates: tls.clientCertificates } };
}

function differences(one: unknown, other: unknown, path: string): string[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (!isMapping(one) || !isMapping(other)) return [path];
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].flatMap((key) => differences(one[key], other[key], path === '' ? key : `${path}.${key}`));
}
