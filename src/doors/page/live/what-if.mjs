import { make, say } from '../browser/elements.mjs';
import { pathOf, pathOfKey } from './addresses.mjs';
import { ask, askJson } from './ask.mjs';
import { changeForm, choice, labelled, rateFields, rowName, scrolled, tableOf } from './blocks.mjs';
import { KeyChange } from './key-change.mjs';
import { asWritten, perSecond, textOf } from './wording.mjs';

/** Each preview converges the group twice at the node. */
const PREVIEW_EVERY_MS = 5000;

/** Tries, applies and takes back changes of quota, strategy or weights; the node previews them (`?dryRun=true`). */
export class WhatIf {
  constructor(host, { group, direction, dimension, canChange }) {
    Object.assign(this, { host, group, direction, dimension, canChange, undo: null, previewedAtMs: null });
    void this.#load();
  }

  /** The group was pushed again: what is tried is computed anew from time to time, as demand moves. */
  follow(status) {
    this.keyChange?.follow(status);
    if (this.hasFailedToLoad) void this.#load();
    if (this.previewedAtMs === null || performance.now() - this.previewedAtMs < PREVIEW_EVERY_MS) return;
    void this.#preview();
  }

  async #load() {
    this.hasFailedToLoad = false;
    const response = await ask(`${pathOf(this.group)}/definition`).catch((error) => error);
    if (response instanceof Error) {
      await this.#failToLoad(response);
      return;
    }
    this.etag = response.headers.get('etag');
    this.defined = await response.json();
    this.#build();
    await this.#preview();
  }

  #build() {
    const { definition } = this.defined;
    this.fields = rateFields(definition.quota?.[this.direction] ?? {});
    this.strategies = JSON.parse(document.getElementById('strategies').textContent);
    this.strategy = choice(this.strategies, definition.strategy);
    const value = weightsText(definition.weights ?? {});
    this.weights = make('input', { type: 'text', value, placeholder: 'a=2, b=1' });
    const labels = [
      ...this.fields.map(([name, field]) => labelled(name, field)),
      labelled('strategy', this.strategy),
      labelled('weights', this.weights),
    ];
    const form = changeForm(labels, {
      onTyped: () => void this.#preview(),
      onApply: () => void this.#apply(),
      onUndo: () => void this.#takeBack(),
    });
    Object.assign(this, form);
    this.result = scrolled('Shares before and after');
    this.host.replaceChildren(this.form, this.result);
  }

  #patch() {
    const { definition } = this.defined;
    const quota = {};
    for (const [name, { value }] of this.fields) {
      const written = value.trim() === '' ? null : asWritten(value);
      if (written !== (definition.quota?.[this.direction]?.[name] ?? null)) quota[name] = written;
    }
    const weights = readWeights(this.weights.value, definition.weights ?? {});
    return {
      ...(Object.keys(quota).length > 0 && { quota: { [this.direction]: quota } }),
      ...(this.strategy.value !== (definition.strategy ?? this.strategies[0]) && { strategy: this.strategy.value }),
      ...(Object.keys(weights).length > 0 && { weights }),
    };
  }

  async #preview() {
    const patch = this.#patch();
    const isSame = Object.keys(patch).length === 0;
    this.applying.disabled = isSame || !this.canChange;
    this.previewedAtMs = null;
    if (isSame) {
      this.result.replaceChildren();
      say(this.told, 'Change a field to see the shares that would follow. Nothing is changed until you apply it.');
      return;
    }
    const preview = await this.#send('?dryRun=true', { method: 'PATCH', body: patch });
    // Another field was changed meanwhile: its own preview follows.
    if (preview === REFUSED || JSON.stringify(patch) !== JSON.stringify(this.#patch())) return;
    this.previewedAtMs = performance.now();
    this.#show(preview.before?.[this.direction], preview.after?.[this.direction]);
    const note = 'Shares by what nodes want now; computed again every 5 s.';
    say(this.told, this.canChange ? note : 'Groups cannot be changed here: the registry is off.');
  }

  async #apply() {
    const before = this.defined;
    const made = await this.#send('', {
      method: 'PATCH',
      body: this.#patch(),
      headers: this.etag ? { 'if-match': this.etag } : {},
    });
    if (made === REFUSED) return;
    this.undo ??= before;
    await this.#load();
    this.undoing.hidden = false;
    say(this.told, 'Applied: every node decides by it now. Undo brings back what was there before.');
  }

  /** Takes a change back. A group of YAML alone leaves the registry: YAML is in force then. */
  async #takeBack() {
    const { origin, definition } = this.undo;
    const how = origin === 'yaml' ? { method: 'DELETE' } : { method: 'PUT', body: definition };
    const done = await this.#send('', { ...how, headers: this.etag ? { 'if-match': this.etag } : {} });
    if (done === REFUSED) return;
    this.undo = null;
    await this.#load();
    say(this.told, 'Taken back.');
  }

  /** REFUSED where the node does not do it: the reason is shown. */
  async #send(query, how) {
    try {
      return await askJson(`${pathOf(this.group)}${query}`, how);
    } catch (error) {
      this.#fail(error);
      return REFUSED;
    }
  }

  /** The shares of a key cannot be tried: its settings are those of its template. */
  async #failToLoad(error) {
    const key = error.code === 'GROUP_UNKNOWN' ? await askJson(pathOfKey(this.group)).catch(() => null) : null;
    const { host, direction, canChange } = this;
    if (key === null) {
      this.#fail(error);
      this.hasFailedToLoad = this.defined === undefined;
    } else this.keyChange = new KeyChange(host, { key: this.group, direction, canChange });
  }

  #fail(error) {
    if (this.told === undefined) this.host.replaceChildren(make('p', { className: 'hint', text: textOf(error) }));
    else say(this.told, textOf(error));
  }

  #show(before, after) {
    const key = `${this.dimension}PerSecond`;
    const was = new Map((before?.nodes ?? []).map((node) => [node.nodeId, node.share[key]]));
    const nodes = [...(after?.nodes ?? []), ...(before?.nodes ?? [])];
    const most = Math.max(...nodes.map(({ share }) => share[key] ?? 0), 1e-9);
    const rows = (after?.nodes ?? []).map(({ nodeId, demand, share }) => {
      const bar = make('i', { className: 'then' });
      bar.style.width = `${(100 * (share[key] ?? 0)) / most}%`;
      const mark = make('i', { className: 'now' });
      mark.style.left = `${(100 * (was.get(nodeId) ?? 0)) / most}%`;
      const rates = [demand[key], was.get(nodeId), share[key]].map((value) => {
        return make('td', { text: perSecond(value, this.dimension) });
      });
      const bars = make('span', { className: 'bar-of-share', 'aria-hidden': 'true' }, bar, mark);
      return make('tr', {}, rowName('', nodeId), ...rates, make('td', { className: 'compare' }, bars));
    });
    const titles = ['Node', 'Wants', 'Share now', 'Share then', ''];
    this.result.replaceChildren(tableOf(titles, make('tbody', {}, ...rows)));
  }
}

/** Is no answer of a node: some have no content. */
const REFUSED = Symbol('refused');

function weightsText(weights) {
  return Object.entries(weights)
    .map(([node, weight]) => `${node}=${weight}`)
    .join(', ');
}

/** Returns the patch for these weights; null takes one away. */
function readWeights(text, before) {
  const pairs = text.split(',').map((part) => part.split('=').map((word) => word.trim()));
  const after = Object.fromEntries(
    pairs
      .filter(([node, weight]) => node !== '' && weight !== undefined)
      .map(([node, weight]) => [node, Number(weight)]),
  );
  const changed = Object.entries(after).filter(([node, weight]) => before[node] !== weight);
  const gone = Object.keys(before).filter((node) => !(node in after));
  return Object.fromEntries([...changed, ...gone.map((node) => [node, null])]);
}
