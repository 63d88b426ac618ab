import type { Telemetry } from '../../../base/ports/telemetry.js';
import { configStamp } from '../../../config/files/config-files.js';
import type { ResolvedConfig } from '../../../config/resolved/resolved-config.js';
import { ConfigWatch } from '../../../node/groups/yaml/config-watch.js';
import { loadRules } from './load-rules.js';
import { loadRulesAside } from './load-rules-aside.js';
import { RulesBook, type RulesTarget } from './rules-book.js';

/** Rules of files, which are followed as the configuration's are. */
export class RuleFiles {
  readonly book: RulesBook;
  readonly #watch: ConfigWatch;

  /** Reads the files. Throws CONFIG_UNREADABLE, and a ConfigError of RULES_INVALID. */
  constructor(base: ResolvedConfig, path: string, telemetry: Telemetry) {
    const stamp = configStamp(path);
    const book = new RulesBook(base, path, loadRules(path), telemetry);
    this.book = book;
    const reload = async () => {
      try {
        book.take(await loadRulesAside(path));
      } catch (error) {
        book.refuse(error);
      }
    };
    this.#watch = new ConfigWatch({ path, stamp, reload });
  }

  /** Follows the files from now on. */
  start(target: RulesTarget): void {
    this.book.follow(target);
    this.#watch.start();
  }

  /** Reads the files now. */
  async readNow(): Promise<void> {
    await this.#watch.readNow();
  }

  /** Another configuration changes nothing: files are read when they change. */
  renew(): void {}

  /** Files are no server. */
  readonly status = null;

  close(): void {
    this.#watch.close();
  }
}
