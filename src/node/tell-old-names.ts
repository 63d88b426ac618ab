import type { ResolvedConfig } from '../config/resolved/resolved-config.js';
import type { Telemetry } from '../ports/telemetry.js';

/** Says of each old word of a configuration what it is called now; of one that `before` had, it was said then. */
export function tellOldNames(config: ResolvedConfig, telemetry: Telemetry, before: ResolvedConfig | null = null): void {
  const said = new Set(before?.oldNames.map(({ old }) => old));
  for (const { old, now, where } of config.oldNames) {
    if (!said.has(old))
      telemetry.log('warn', 'a setting has a new name; the old one keeps working', { old, now, where });
  }
}
