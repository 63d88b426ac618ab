import type { ResolvedConfig } from '../../../config/resolved/resolved-config.js';
import { Scrubber } from '../../../doors/telemetry/scrubber.js';
import { cleanErrors } from '../../terminal/exit.js';

const scrubber = new Scrubber(null);

/**
 * Hides a configuration's secrets from errors that end the process. Not in exit.ts: commands without a configuration do
 * not load the settings table.
 */
export function hideSecretsOf(config: ResolvedConfig): void {
  scrubber.take(config);
  cleanErrors((text) => scrubber.cleanText(text));
}
