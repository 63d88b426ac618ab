import type { GroupConfig, ResolvedConfig } from '../resolved/resolved-config.js';
import { type LoadOptions, loadConfig } from './load-config.js';
import { isReadAside, readAside } from './read-aside.js';

/** Loads as loadConfig; all but small ones beside the event loop. */
export async function loadConfigAside(options: LoadOptions): Promise<ResolvedConfig> {
  if (!isReadAside(options.file)) return await loadConfig(options);
  const thread = new URL('./load-thread.js', import.meta.url);
  return withPlainWeights(await readAside<ResolvedConfig>(thread, options));
}

/** Takes prototypes away again: a node may be called "constructor". A copy between threads has them. */
function withPlainWeights(config: ResolvedConfig): ResolvedConfig {
  const groups = config.groups.map((group) => {
    return { ...group, weights: Object.assign(Object.create(null), group.weights) as GroupConfig['weights'] };
  });
  return { ...config, groups };
}
