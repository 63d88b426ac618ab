import { resolveConfig } from '../../src/config/read/resolve-config.js';
import type { ResolvedConfig } from '../../src/config/resolved/resolved-config.js';

/** Groups of equal settings, resolved once: what is measured is not the reading of 100,000 lines of YAML. */
export function scaleConfig(groupCount: number, more: object): ResolvedConfig {
  const quota = {
    publish: { messagesPerSecond: 1000, bytesPerSecond: '10M' },
    dispatch: { messagesPerSecond: 1000, bytesPerSecond: '10M' },
  };
  const raw = { cluster: 'scale', node: 'reader', groups: { any: { quota } }, ...more };
  const config = resolveConfig(raw, { source: '(bench)', env: {} });
  const [any] = config.groups;
  const groups = Array.from({ length: groupCount }, (_, at) => ({ ...any, name: `group-${at}` }));
  return { ...config, groups };
}
