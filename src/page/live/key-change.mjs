import { make, say } from '../browser/elements.mjs';
import { pathOfKey, pathOfTemplate } from './addresses.mjs';
import { ask, askJson } from './ask.mjs';
import { choice, labelled } from './blocks.mjs';
import { settingsThatDiffer } from './last-changes.mjs';
import { asWritten, textOf } from './wording.mjs';

const ALL_KEYS = 'all keys like it';
const THIS_KEY = 'this key';
/** Typing is over. */
const TRIED_AFTER_MS = 250;

/**
 * What if, for a key: its quota is changed for all keys of its template, or for this key alone. The node says what would
 * be defined then (`?dryRun=true`).
 */
export class KeyChange {
  constructor(host, { key, direction, canChange }) {
    Object.assign(this, { host, key, direction, canChange, undo: null });
    void this.#load();
  }

  /** The key was pushed again: the fields follow its quota unless somebody is typing. */
  follow({ quotaAsWritten }) {
    if (this.fields === undefined || JSON.stringify(quotaAsWritten) === JSON.stringify(this.quota)) return;
    if (this.#patch() !== null) return;
    this.quota = quotaAsWritten;
    for (const [name, field] of this.fields) field.value = String(quotaAsWritten[name] ?? '');
  }

  async #load() {
    try {
      const { template, quota } = await askJson(pathOfKey(this.key));
      this.template = template;
      this.quota = quota[this.direction];
    } catch (error) {
      this.host.replaceChildren(make('p', { className: 'hint', text: textOf(error) }));
      return;
    }
    this.#build();
    this.#tell();
  }

  #build() {
    const names = Object.keys(this.quota).filter((name) => /^(messages|bytes)Per/.test(name));
    this.whom = choice([THIS_KEY, ALL_KEYS], THIS_KEY);
    this.fields = (names.length === 0 ? ['messagesPerSecond'] : names).map((name) => {
      return [name, make('input', { type: 'text', inputmode: 'decimal', value: String(this.quota[name] ?? '') })];
    });
    this.applying = make('button', { type: 'submit', className: 'plain strong', text: 'Apply to the cluster' });
    this.undoing = make('button', { type: 'button', className: 'plain', text: 'Undo', hidden: this.undo === null });
    this.undoing.addEventListener('click', () => void this.#takeBack());
    this.told = make('p', { className: 'hint', role: 'status' });
    this.result = make('pre', { className: 'settings' });
    this.form = make(
      'form',
      { className: 'change' },
      labelled('for', this.whom),
      ...this.fields.map(([name, field]) => labelled(name, field)),
      make('div', { className: 'tools' }, this.applying, this.undoing),
      this.told,
      this.result,
    );
    this.form.addEventListener('input', () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => void this.#try(), TRIED_AFTER_MS);
    });
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#apply();
    });
    this.host.replaceChildren(this.form);
  }

  #tell() {
    this.applying.disabled = true;
    this.result.textContent = '';
    say(this.told, `A key of template ${this.template}. Change its quota to see what would be defined.`);
  }

  /** Only what differs from what is in force. */
  #patch() {
    const changed = this.fields
      .map(([name, { value }]) => [name, value.trim() === '' ? null : asWritten(value)])
      .filter(([name, value]) => value !== (this.quota[name] ?? null));
    return changed.length === 0 ? null : { quota: { [this.direction]: Object.fromEntries(changed) } };
  }

  get #path() {
    return this.whom.value === THIS_KEY ? pathOfKey(this.key) : pathOfTemplate(this.template);
  }

  async #try() {
    const patch = this.#patch();
    if (patch === null) {
      this.#tell();
      return;
    }
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
    const whom = this.whom.value === THIS_KEY ? this.key : `every key of ${this.template}`;
    say(this.told, this.canChange ? `What ${whom} would have.` : 'Keys cannot be changed here: the registry is off.');
  }

  async #apply() {
    const path = this.#path;
    try {
      const before = await definedAt(path);
      const response = await ask(path, { method: 'PATCH', body: this.#patch(), headers: expecting(before?.etag) });
      this.undo = { path, before, etag: response.headers.get('etag') };
    } catch (error) {
      say(this.told, textOf(error));
      return;
    }
    await this.#load();
    say(this.told, 'Applied: every node decides by it now. Undo brings back what was there before.');
  }

  /** What was in YAML alone, or nowhere, is taken out of the registry again. */
  async #takeBack() {
    const { path, before, etag } = this.undo;
    const how = before?.origin === 'run-time' ? { method: 'PUT', body: before.definition } : { method: 'DELETE' };
    try {
      await ask(path, { ...how, headers: expecting(etag) });
    } catch (error) {
      say(this.told, textOf(error));
      return;
    }
    this.undo = null;
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
