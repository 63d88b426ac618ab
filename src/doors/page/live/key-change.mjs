import { make, say } from '../browser/elements.mjs';
import { pathOfKey, pathOfTemplate } from './addresses.mjs';
import { ask, askJson } from './ask.mjs';
import { changeForm, choice, labelled, rateFields } from './blocks.mjs';
import { settingsThatDiffer } from './last-changes.mjs';
import { asWritten, textOf } from './wording.mjs';

const ALL_KEYS = 'all keys like it';
const THIS_KEY = 'this key';

/** Tries a change of quota, for a key or its template. The node previews it (`?dryRun=true`). */
export class KeyChange {
  constructor(host, { key, direction, canChange }) {
    // The map has what stood there before the first change of each path, and the ETag of the last one.
    Object.assign(this, { host, key, direction, canChange, changed: new Map() });
    void this.#load();
  }

  /** The key was pushed again: loads what could not be loaded, and what somebody else has changed. */
  follow({ quotaAsWritten }) {
    if (this.isLoading || this.#isEdited || JSON.stringify(quotaAsWritten) === JSON.stringify(this.quota)) return;
    void this.#load({ keepsEdits: true });
  }

  get #isEdited() {
    return this.fields !== undefined && this.#edits().length > 0;
  }

  async #load({ keepsEdits = false } = {}) {
    this.isLoading = true;
    const found = await this.#found().catch((error) => error);
    this.isLoading = false;
    if (keepsEdits && this.#isEdited) return;
    if (found instanceof Error) {
      Object.assign(this, { fields: undefined, quota: undefined });
      this.host.replaceChildren(make('p', { className: 'hint', text: textOf(found) }));
      return;
    }
    Object.assign(this, found);
    this.#build();
    this.#tell();
  }

  async #found() {
    const { template, quota } = await askJson(pathOfKey(this.key));
    const paths = [pathOfKey(this.key), pathOfTemplate(template)];
    // The state that must still hold, or the change is refused.
    const seen = new Map(await Promise.all(paths.map(async (path) => [path, await definedAt(path)])));
    return { template, quota: quota[this.direction], seen };
  }

  #build() {
    this.whom = choice([THIS_KEY, ALL_KEYS], THIS_KEY);
    this.fields = rateFields(this.quota);
    const labels = [labelled('for', this.whom), ...this.fields.map(([name, field]) => labelled(name, field))];
    const { form, ...parts } = changeForm(labels, {
      onTyped: () => void this.#try(),
      onApply: () => void this.#apply(),
      onUndo: () => void this.#takeBack(),
    });
    Object.assign(this, parts);
    this.undoing.hidden = this.changed.size === 0;
    this.result = make('pre', { className: 'settings' });
    form.append(this.result);
    this.host.replaceChildren(form);
  }

  #tell() {
    this.applying.disabled = true;
    this.result.textContent = '';
    say(this.told, `A key of template ${this.template}. Change its quota to see what would be defined.`);
  }

  /** Returns names and new rates of the fields that differ. In force are the key's, or its template's. */
  #edits() {
    const { definition } = this.seen.get(pathOfTemplate(this.template)) ?? {};
    const inForce = this.whom.value === THIS_KEY ? this.quota : (definition?.quota?.[this.direction] ?? {});
    return this.fields
      .map(([name, { value }]) => [name, value.trim() === '' ? null : asWritten(value)])
      .filter(([name, rate]) => rate !== (inForce[name] ?? null));
  }

  get #path() {
    return this.whom.value === THIS_KEY ? pathOfKey(this.key) : pathOfTemplate(this.template);
  }

  /** Null where nothing can be sent: the reason is shown. */
  #patch() {
    const edits = this.#edits();
    const [empty] = edits.find(([, rate]) => rate === null) ?? [];
    if (edits.length > 0 && empty === undefined) return { quota: { [this.direction]: Object.fromEntries(edits) } };
    this.#tell();
    if (empty !== undefined) say(this.told, `Write a rate for ${empty}: an empty field would change nothing.`);
    return null;
  }

  async #try() {
    const patch = this.#patch();
    if (patch === null) return;
    const path = this.#path;
    const preview = await askJson(`${path}?dryRun=true`, { method: 'PATCH', body: patch }).catch((error) => error);
    // Another field was changed meanwhile: its own preview follows.
    if (path !== this.#path || JSON.stringify(patch) !== JSON.stringify(this.#patch())) return;
    this.applying.disabled = preview instanceof Error || !this.canChange;
    if (preview instanceof Error) {
      this.result.textContent = '';
      say(this.told, textOf(preview));
      return;
    }
    this.result.textContent = settingsThatDiffer(preview.before ?? {}, preview.after).join('\n');
    const whom = this.whom.value === THIS_KEY ? this.key : `every key of ${this.template} without a quota of its own`;
    say(
      this.told,
      this.canChange ? `Settings of ${whom} after the change.` : 'Keys cannot be changed here: the registry is off.',
    );
  }

  async #apply() {
    const [path, body] = [this.#path, this.#patch()];
    if (body === null) return;
    this.applying.disabled = true;
    const before = this.seen.get(path);
    try {
      const response = await ask(path, { method: 'PATCH', body, headers: expecting(before?.etag) });
      const first = this.changed.has(path) ? this.changed.get(path).before : before;
      this.changed.set(path, { before: first, etag: response.headers.get('etag') });
    } catch (error) {
      say(this.told, textOf(error));
      return;
    }
    await this.#load();
    say(this.told, 'Applied: every node decides by it now. Undo brings back what was there before.');
  }

  /** All changes of this page. What was in YAML alone, or nowhere, is taken out of the registry again. */
  async #takeBack() {
    for (const [path, { before, etag }] of [...this.changed].reverse()) {
      const how = before?.origin === 'run-time' ? { method: 'PUT', body: before.definition } : { method: 'DELETE' };
      try {
        await ask(path, { ...how, headers: expecting(etag) });
      } catch (error) {
        say(this.told, textOf(error));
        return;
      }
      this.changed.delete(path);
    }
    await this.#load();
    say(this.told, 'Taken back.');
  }
}

/** Null where nothing is defined for it. */
async function definedAt(path) {
  try {
    const response = await ask(path.startsWith(pathOfKey('')) ? `${path}/definition` : path);
    return { ...(await response.json()), etag: response.headers.get('etag') };
  } catch (error) {
    if (error.code === 'KEY_DEFINITION_UNKNOWN') return null;
    throw error;
  }
}

/** Only if nobody has changed it meanwhile. */
function expecting(etag) {
  return etag == null ? { 'if-none-match': '*' } : { 'if-match': etag };
}
