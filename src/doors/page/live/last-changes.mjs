import { make } from '../browser/elements.mjs';
import { askJson } from './ask.mjs';
import { dateAndTime, textOf } from './wording.mjs';

const CHANGES_SHOWN = 8;
const SETTINGS_SHOWN = 4;

/**
 * Shows the last changes of a group at run time, newest first. They are the registry's trail, also of a key's own
 * settings. Asked for when the revision is another.
 */
export class LastChanges {
  constructor(host, group) {
    Object.assign(this, { host, group, revision: null });
    host.replaceChildren(make('p', { className: 'hint', text: 'loading' }));
  }

  async follow({ template, revision }) {
    if (revision === this.revision) return;
    this.revision = revision;
    const group = template === null ? this.group : `/key/${this.group}`;
    const query = new URLSearchParams({ group, last: CHANGES_SHOWN });
    const found = await askJson(`/v1/audit?${query}`).catch((error) => error);
    if (revision !== this.revision) return;
    const hasFailed = found instanceof Error;
    this.host.replaceChildren(
      hasFailed ? make('p', { className: 'hint', text: textOf(found) }) : listOf(found.changes),
    );
    // A viewer is refused for good, and asks no more.
    if (hasFailed && !(found.status < 500)) this.revision = null;
  }
}

function listOf(changes) {
  if (changes.length === 0) return make('p', { className: 'hint', text: 'Nothing was changed at run time.' });
  const items = changes.reverse().map(itemOf);
  return make('ol', { className: 'changes' }, ...items);
}

function itemOf({ time, who, what, node, before, after }) {
  const when = time === null ? '' : dateAndTime(new Date(time));
  return make(
    'li',
    {},
    make('b', { text: what }),
    ` ${when} by ${who?.name ?? 'somebody'} at ${node}`,
    ...settingsOf(settingsThatDiffer(before, after)),
  );
}

/** Folds long changes: the first one of a YAML group has all settings. The registry had none before. */
function settingsOf(lines) {
  const [first, rest] = [lines.slice(0, SETTINGS_SHOWN), lines.slice(SETTINGS_SHOWN)];
  const shown = make('pre', { text: first.join('\n') });
  if (rest.length === 0) return [shown];
  const summary = make('summary', { text: rest.length === 1 ? '1 more setting' : `${rest.length} more settings` });
  return [shown, make('details', {}, summary, make('pre', { text: rest.join('\n') }))];
}

/** One line per setting that differs. */
export function settingsThatDiffer(before, after) {
  const [was, is] = [flat(before), flat(after)];
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((name) => was[name] !== is[name]);
  return names.map((name) => `${name}: ${was[name] ?? '–'} → ${is[name] ?? '–'}`);
}

function flat(value, path = '') {
  if (typeof value !== 'object' || value === null) return path === '' ? {} : { [path]: String(value) };
  return Object.assign(
    {},
    ...Object.entries(value).map(([name, part]) => flat(part, path === '' ? name : `${path}.${name}`)),
  );
}
