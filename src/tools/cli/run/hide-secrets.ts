import type { ResolvedConfig } from '../../../config/resolved/resolved-config.js';
import { Scrubber } from '../../../doors/telemetry/scrubber.js';
import { cleanErrors } from '../../terminal/exit.js';

const scrubber = new Scrubber(null);

/**
 * From now on no error that this process ends with tells a secret of this configuration, or of one before it. Not in
 * exit.ts: commands without a configuration do not load the settings table.
 */
export function hideSecretsOf(config: ResolvedConfig): void {
  scrubber.take(config);
  cleanErrors((text) => scrubber.cleanText(text));
}
