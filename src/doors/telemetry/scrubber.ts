import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { SECTIONS, yamlPath } from '../../config/schema/all-settings.js';
import { valueBelow } from '../../config/setting/setting-value.js';

/** Secret rows of the settings table, such as `http.tls.key`. */
export const SECRET_SETTINGS: readonly string[] = [
  ...new Set(
    SECTIONS.flatMap((section) => {
      const rows = Object.entries(section.rows).filter(([, { secret }]) => secret === true);
      return rows.map(([key]) => yamlPath(section, key));
    }),
  ),
];

/**
 * Takes the configuration's secrets out of finished log lines and texts. *Why:* a client library's error may quote what
 * it was given, which redaction by key misses.
 */
export class Scrubber {
  /** Secrets, longest first: one may begin with another. */
  #secrets: readonly string[] = [];
  /** Secrets as they look inside a JSON string. */
  #quoted: readonly string[] = [];

  constructor(config: ResolvedConfig | null) {
    if (config !== null) this.take(config);
  }

  /** Adds secrets of a newly read configuration; earlier ones may be in use and stay. */
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

/** Shortest secret hidden: shorter ones would be found in ordinary words. */
const LENGTH_MIN = 6;
