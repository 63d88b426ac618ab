import type { GroupConfig } from '../resolved/resolved-config.js';
import { SETTINGS } from '../schema/all-settings.js';
import type { GroupSettings } from '../schema/groups.js';
import type { Sound } from '../schema/read-section.js';

/**
 * What the nodes share in a group: what it says, or, where it leaves that to us (`auto`), tokens unless a setting of it
 * has a meaning with rates alone. So an update of the program refuses no configuration, and tuned buckets stay.
 */
export function sharingInForce(values: Sound<GroupSettings>): Pick<GroupConfig, 'sharing' | 'autoSharing'> {
  if (values.sharing === 'tokens' || values.sharing === 'rates') return { sharing: values.sharing, autoSharing: null };
  const [found] = [...withoutTokens(values), ...tuned(values)];
  if (found === undefined) return { sharing: 'tokens', autoSharing: { because: null } };
  return { sharing: 'rates', autoSharing: { because: `${found[0]} is ${found[1]}` } };
}

/** Without a topic nobody tells who took what. */
export const ALONE = { sharing: 'rates', autoSharing: { because: 'topic.kind is none' } } as const;

/** Settings by key, with the value that a bucket of the cluster does not do justice to. */
export function withoutTokens(values: Sound<GroupSettings>): [key: string, value: unknown][] {
  const { limiter, topics, smoothingMs, slewPerSecond } = values;
  const found: [string, unknown][] = [];
  if (limiter === 'window') found.push(['limiter', limiter]);
  if (topics !== undefined && topics !== 'shared') found.push(['topics', topics]);
  if (typeof smoothingMs === 'number' && smoothingMs > 0) found.push(['smoothingMs', smoothingMs]);
  if (typeof slewPerSecond === 'number') found.push(['slewPerSecond', slewPerSecond]);
  return found;
}

/** What shapes the bucket of a single node. Whoever wrote another value than the default meant those buckets. */
function tuned(values: Sound<GroupSettings>): [key: string, value: unknown][] {
  return (['burstMs', 'burstMinMessages', 'allowanceRatio'] as const).flatMap((key): [string, unknown][] => {
    const value = values[key];
    return value === undefined || value === SETTINGS.group.rows[key]?.default ? [] : [[key, value]];
  });
}
