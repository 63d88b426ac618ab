import { isReadAside, readAside } from '../../../config/files/read-aside.js';
import { type LoadedRules, loadRules, type ReadRules, rulesFrom } from './load-rules.js';

/** Loads as loadRules; all but small ones are read beside the event loop. */
export async function loadRulesAside(path: string): Promise<LoadedRules> {
  if (!isReadAside(path)) return loadRules(path);
  const thread = new URL('./rules-thread.js', import.meta.url);
  return rulesFrom(path, await readAside<ReadRules>(thread, path));
}
