import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { KeyStatus } from '../api/node-status.js';
import type { ChangeOptions, Definition } from '../api/quota-groups.js';
import type { DefinedKey, DefinedKeyTemplate, QuotaKeys, QuotaKeyTemplates } from '../api/quota-keys.js';
import {
  type DefinedKeys,
  definedKeys,
  deleteKeys,
  isDefined,
  type KeyEntry,
  keyEntryOf,
  listKeyDefinitions,
  patchKeys,
  putKeys,
  entryText as whatOf,
} from '../groups/changes/change-keys.js';
import { busiestKeys } from '../status/busiest-keys.js';
import { describeKey, unknownKey } from '../status/describe-key.js';
import { embeddedCaller, expectedBy, givenText, plainMapping } from './embedded-change.js';
import type { NodeParts } from './node-parts.js';

/** Offers keys and templates to the embedding program, which has every right. */
export class EmbeddedKeys implements QuotaKeys {
  readonly templates: QuotaKeyTemplates;
  readonly #parts: NodeParts;
  readonly #own: Definitions<DefinedKey>;

  constructor(parts: NodeParts) {
    this.#parts = parts;
    this.#own = new Definitions(parts, 'key', ({ name: key, origin, revision, definition }) => {
      return { key, origin, revision, definition };
    });
    this.templates = new Definitions(parts, 'template', ({ name: pattern, origin, revision, definition }) => {
      return { pattern, origin, revision, definition } satisfies DefinedKeyTemplate;
    });
  }

  show(key: string): KeyStatus {
    return describeKey(this.#parts, givenText('key', key)) ?? unknownKey(this.#parts.templates, key);
  }

  busiest(): Promise<KeyStatus[]> {
    return busiestKeys(this.#parts);
  }

  get(key: string): DefinedKey {
    return this.#own.get(key);
  }

  list(): DefinedKey[] {
    return this.#own.list();
  }

  set(key: string, definition: Definition, options?: ChangeOptions): Promise<DefinedKey> {
    return this.#own.set(key, definition, options);
  }

  patch(key: string, patch: Definition, options?: ChangeOptions): Promise<DefinedKey> {
    return this.#own.patch(key, patch, options);
  }

  delete(key: string, options?: ChangeOptions): Promise<void> {
    return this.#own.delete(key, options);
  }
}

/** Changes templates, or single keys' own settings. */
class Definitions<Shown> {
  readonly #parts: NodeParts;
  readonly #kind: KeyEntry['kind'];
  readonly #show: (defined: DefinedKeys) => Shown;

  constructor(parts: NodeParts, kind: KeyEntry['kind'], show: (defined: DefinedKeys) => Shown) {
    this.#parts = parts;
    this.#kind = kind;
    this.#show = show;
  }

  get(name: string): Shown {
    return this.#show(definedKeys(this.#parts, this.#entry(name)));
  }

  list(): Shown[] {
    return listKeyDefinitions(this.#parts).flatMap((one) => (one.kind === this.#kind ? [this.#show(one)] : []));
  }

  async set(name: string, definition: Definition, options: ChangeOptions = {}): Promise<Shown> {
    const entry = this.#entry(name);
    const written = plainMapping('definition', definition);
    return this.#show(
      await putKeys(this.#parts, entry, written, this.#expected(entry, options), embeddedCaller(options)),
    );
  }

  async patch(name: string, patch: Definition, options: ChangeOptions = {}): Promise<Shown> {
    const entry = this.#entry(name);
    const written = plainMapping('patch', patch);
    return this.#show(
      await patchKeys(this.#parts, entry, written, this.#expected(entry, options), embeddedCaller(options)),
    );
  }

  async delete(name: string, options: ChangeOptions = {}): Promise<void> {
    const entry = this.#entry(name);
    await deleteKeys(this.#parts, entry, this.#expected(entry, options), embeddedCaller(options));
  }

  #entry(name: string): KeyEntry {
    return keyEntryOf(this.#kind, givenText(this.#kind, name));
  }

  #expected(entry: KeyEntry, options: ChangeOptions) {
    const what = whatOf(entry);
    const refuse = (reason: string) => new QuotameshError('KEY_DEFINITION_CHANGED', { what, reason });
    return expectedBy(options, isDefined(this.#parts, entry), refuse);
  }
}
