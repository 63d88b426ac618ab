import type { GroupConfig, KeyTemplate } from '../../../config/resolved/resolved-config.js';
import type { KeyBook } from '../../groups/keys/key-book.js';

/** Tells keys of which the strict log keeps something: no node may spend them unpublished. */
export class KeptKeys {
  readonly #keys: Pick<KeyBook, 'kindOf'> | null;
  #hasAny = false;

  constructor(keys: Pick<KeyBook, 'kindOf'> | null) {
    this.#keys = keys;
  }

  /** Follows the templates in force. */
  use(templates: readonly KeyTemplate[]): void {
    this.#hasAny = templates.some(({ group, overrides }) => [group, ...overrides].some(isKept));
  }

  get hasAny(): boolean {
    return this.#hasAny;
  }

  has(name: string): boolean {
    return this.settingsOf(name) !== null;
  }

  /** Returns the settings of such a key; null = it is none. */
  settingsOf(name: string): GroupConfig | null {
    const kind = this.#hasAny ? (this.#keys?.kindOf(name) ?? null) : null;
    return kind !== null && isKept(kind.settings) ? kind.settings : null;
  }
}

function isKept({ concurrency, budget }: GroupConfig): boolean {
  return concurrency !== null || budget !== null;
}
