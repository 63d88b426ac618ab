import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { SECTIONS, yamlPath } from '../../config/schema/all-settings.js';
import { valueBelow } from '../../config/setting/setting-value.js';

/** `http.tls.key`: every row of the settings table that is marked as secret. */
export const SECRET_SETTINGS: readonly string[] = [
  ...new Set(
    SECTIONS.flatMap((section) => {
      const rows = Object.entries(section.rows).filter(([, { secret }]) => secret === true);
      return rows.map(([key]) => yamlPath(section, key));
    }),
  ),
];

/**
 * Takes the secrets of the configuration out of a finished log line, or of a text for people, wherever they stand: an
 * error message of a client library may quote what it was given, which redaction by key cannot know.
 */
export class Scrubber {
  /** The longest first, because one may begin with another. */
  #secrets: readonly string[] = [];
  /** The secrets as they look inside a JSON string. */
  #quoted: readonly string[] = [];

  constructor(config: ResolvedConfig | null) {
    if (config !== null) this.take(config);
  }

  /** Adds the secrets of a configuration that was read again. Earlier ones stay: they may be in use elsewhere. */
  take(config: ResolvedConfig): void {
    const given = SECRET_SETTINGS.map((path) => valueBelow(config, path.split('.'))).filter(
      (secret): secret is string => typeof secret === 'string' && secret.length >= LENGTH_MIN,
    );
    this.#secrets = [...new Set([...this.#secrets, ...given])].sort((one, other) => other.length - one.length);
    this.#quoted = this.#secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
  }

  clean(line: string): string {
    return without(this.#quoted, line);
  }

  cleanText(text: string): string {
    // A text may quote a JSON string, too.
    return without(this.#quoted, without(this.#secrets, text));
  }
}

function without(secrets: readonly string[], text: string): string {
  return secrets.reduce((cleaned, secret) => cleaned.replaceAll(secret, '***'), text);
}

/** Shorter ones would be found in ordinary words, and break the line. */
const LENGTH_MIN = 6;
