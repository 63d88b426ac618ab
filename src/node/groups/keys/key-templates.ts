import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { GroupConfig, KeyTemplate, RegistryConfig } from '../../../config/resolved/resolved-config.js';
import type { Mistake } from '../../../config/setting/config-error.js';
import type { KeyPattern } from '../../../core/account/keys/key-pattern.js';
import { KEY_NAME_MAX } from '../../../core/base/constants.js';
import type { GroupDefinition } from '../../../core/beside/registry/registry-record.js';
import { isSameValue } from '../least-definition.js';
import { examineOverride, examineTemplate } from './key-definition.js';
import { mostSpecific, patternOf, settingsOfKey } from './settings-of-key.js';

interface KeyTemplatesParts {
  readonly configured: readonly KeyTemplate[];
  readonly registry: Pick<RegistryConfig, 'maxGroups'>;
  readonly telemetry: Telemetry;
  /** Called when the templates in force have changed. */
  readonly use: (templates: readonly KeyTemplate[]) => void;
}

/**
 * Keeps the templates in force. One of run time replaces YAML's as a whole, overrides included; a key's own settings of
 * run time lie over whichever template has its name.
 */
export class KeyTemplates {
  readonly #parts: KeyTemplatesParts;
  #configured: readonly KeyTemplate[];
  readonly #atRunTime = new Map<string, KeyTemplate>();
  /** Key → its definition in the registry. */
  readonly #keys = new Map<string, GroupDefinition>();
  /** Definitions laid over their templates; 10,000 take half a second. */
  readonly #laid = new WeakMap<GroupDefinition, { readonly base: KeyTemplate; readonly config: GroupConfig | null }>();
  #inForce: readonly KeyTemplate[];
  #isStale = false;

  constructor(parts: KeyTemplatesParts) {
    this.#parts = parts;
    this.#configured = parts.configured;
    this.#inForce = parts.configured;
  }

  get inForce(): readonly KeyTemplate[] {
    return this.#inForce;
  }

  configured(pattern: string): KeyTemplate | null {
    return this.#configured.find((template) => template.pattern === pattern) ?? null;
  }

  /** Returns the most specific template of a name; null = none. */
  templateOf(name: string): KeyTemplate | null {
    return mostSpecific(this.#bases(), name);
  }

  /** Returns the settings of a key; null = no template. */
  settingsOf(name: string): GroupConfig | null {
    return settingsOfKey(this.#inForce, name);
  }

  /** Lists the first keys of which this text is the only field. */
  namesWith(value: string): string[] {
    if (value.length > KEY_NAME_MAX) return [];
    const names = this.#bases().flatMap((template) => {
      const pattern = patternOf(template);
      const name = pattern.fields.length === 1 ? pattern.nameWith(value) : '';
      return name !== '' && name.length <= KEY_NAME_MAX ? [name] : [];
    });
    return names.slice(0, NAMES_SHOWN);
  }

  /** Lists patterns that overlap this one, neither more specific. */
  twinsOf(pattern: KeyPattern): string[] {
    return this.#bases().flatMap((template) => {
      const other = patternOf(template);
      const isTwin = other.text !== pattern.text && other.literals === pattern.literals && other.overlaps(pattern);
      return isTwin ? [other.text] : [];
    });
  }

  /** Keys with own settings from the registry. */
  get namesAtRunTime(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** True = room for one more template or key of run time. */
  get hasRoom(): boolean {
    return this.#atRunTime.size + this.#keys.size < this.#parts.registry.maxGroups;
  }

  configure(templates: readonly KeyTemplate[]): void {
    if (isSameValue(templates, this.#configured)) return;
    this.#configured = templates;
    this.#isStale = true;
    this.apply();
  }

  /**
   * Takes an entry of the log; `apply` puts it in force. Checks it again, as a newer version may have proposed it;
   * returns why it cannot be used, or null.
   */
  define(kind: 'key-template' | 'key', name: string, definition: GroupDefinition | null): string | null {
    const known: Map<string, unknown> = kind === 'key' ? this.#keys : this.#atRunTime;
    if (definition === null) {
      this.#isStale ||= known.delete(name);
      return null;
    }
    if (!known.has(name) && !this.hasRoom) return `registry.maxGroups = ${this.#parts.registry.maxGroups}`;
    if (kind === 'key') {
      // Its template may come behind it in the log.
      this.#isStale = true;
      this.#keys.set(name, definition);
      return null;
    }
    const { template, mistakes } = examineTemplate(name, definition, 'the registry');
    if (template === null) return why(mistakes);
    this.#isStale = true;
    this.#atRunTime.set(name, template);
    return why(mistakes);
  }

  /** Puts the definitions in force, all at once: the log may start with thousands. */
  apply(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    const own = new Map<string, GroupConfig[]>();
    const bases = this.#bases();
    for (const [name, definition] of this.#keys) {
      const base = mostSpecific(bases, name);
      const config = base === null ? null : this.#laidOver(base, name, definition);
      if (base === null || config === null) continue;
      own.set(base.pattern, [...(own.get(base.pattern) ?? []), config]);
    }
    this.#inForce = bases.map((template) => {
      const added = own.get(template.pattern) ?? [];
      const others = template.overrides.filter(({ name }) => !this.#keys.has(name));
      return added.length === 0 ? template : { ...template, overrides: [...others, ...added] };
    });
    this.#parts.use(this.#inForce);
  }

  /** Lays a definition over a changed template; null = they contradict: the template alone counts. */
  #laidOver(base: KeyTemplate, name: string, definition: GroupDefinition): GroupConfig | null {
    const known = this.#laid.get(definition);
    if (known !== undefined && known.base === base) return known.config;
    const { config, mistakes } = examineOverride(base, name, definition, 'the registry');
    this.#laid.set(definition, { base, config });
    if (config !== null) return config;
    const facts = { key: name, template: base.pattern, reason: why(mistakes) ?? '' };
    this.#parts.telemetry.log('warn', 'settings of a key cannot be laid over its template and are left out', facts);
    return null;
  }

  #bases(): KeyTemplate[] {
    const replaced = this.#configured.filter(({ pattern }) => !this.#atRunTime.has(pattern));
    return [...replaced, ...this.#atRunTime.values()];
  }
}

const NAMES_SHOWN = 3;

function why([first]: readonly Mistake[]): string | null {
  return first === undefined ? null : `${first.path} ${first.problem}`;
}
