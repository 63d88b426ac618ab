import { isMapping, type Mapping } from '../../../base/input/mapping.js';

/** Lists `- path: old`, `+ path: new` for each setting that differs. */
export function diffOf(before: Mapping | null, after: Mapping): string[] {
  const [old, now] = [settingsOf(before ?? {}), settingsOf(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  const lines = paths.flatMap((path) => {
    const [was, is] = [old.get(path), now.get(path)];
    if (was === is) return [];
    return [was === undefined ? [] : `  - ${path}: ${was}`, is === undefined ? [] : `  + ${path}: ${is}`].flat();
  });
  return lines.length > 0 ? lines : ['  + (no settings of its own)'];
}

function settingsOf(definition: Mapping, above = ''): Map<string, string> {
  return new Map(
    Object.entries(definition).flatMap(([key, value]): (readonly [string, string])[] =>
      isMapping(value) ? [...settingsOf(value, `${above}${key}.`)] : [[above + key, JSON.stringify(value)]],
    ),
  );
}
