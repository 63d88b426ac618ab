import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { showSent } from '../../base/input/input-mistakes.js';
import { isMapping } from '../../base/input/mapping.js';
import type {
  AttachedScope,
  ChangeOptions,
  DefinedGroup,
  Definition,
  DeleteOptions,
  ManyGroups,
  QuotaGroups,
  RegistryChange,
  SetManyOptions,
} from '../api/quota-groups.js';
import { type AttachedTo, attach, detach, listAttachments } from '../groups/changes/attaching.js';
import {
  checkedReplacement,
  definedGroup,
  deleteGroup,
  type CostedGroup as FullGroup,
  patchGroup,
  putGroup,
} from '../groups/changes/change-group.js';
import { type Expected, registryOf } from '../groups/changes/change-parts.js';
import { putGroups } from '../groups/changes/put-groups.js';
import { callEmbedder, warnEmbedder } from './call-embedder.js';
import { embeddedCaller, expectedBy, givenText, invalid, mappingOf, plainMapping } from './embedded-change.js';
import type { NodeParts } from './node-parts.js';

/** Offers HTTP's changes to the embedding program, which has every right. */
export class EmbeddedGroups implements QuotaGroups {
  readonly #parts: NodeParts;

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  async set(group: string, definition: Definition, options: ChangeOptions = {}): Promise<DefinedGroup> {
    const written = plainMapping('definition', definition);
    const expected = this.#expectedOfGroup(group, options);
    const replacement = checkedReplacement(this.#parts, group, written, expected);
    return shownGroup(await putGroup(this.#parts, group, replacement, expected, embeddedCaller(options)));
  }

  async setMany(definitions: Readonly<Record<string, Definition>>, options: SetManyOptions = {}): Promise<ManyGroups> {
    const written = plainMapping('definitions', definitions);
    const { ifRevision, ...others } = mappingOf('options', options) as SetManyOptions;
    const byName = isMapping(ifRevision) ? new Map(Object.entries(ifRevision)) : null;
    for (const group of byName?.keys() ?? []) {
      if (!Object.hasOwn(written, group))
        throw invalid('ifRevision', `names ${showSent(group)}, which is not among the groups`);
    }
    const all = byName === null ? (ifRevision as number | 'none' | undefined) : undefined;
    const expectedOf = (group: string) => this.#expectedOfGroup(group, { ifRevision: byName?.get(group) ?? all });
    return putGroups(this.#parts, written, expectedOf, embeddedCaller(others));
  }

  async patch(group: string, patch: Definition, options: ChangeOptions = {}): Promise<DefinedGroup> {
    const written = plainMapping('patch', patch);
    const expected = this.#expectedOfGroup(group, options);
    return shownGroup(await patchGroup(this.#parts, group, written, expected, embeddedCaller(options)));
  }

  async delete(group: string, options: DeleteOptions = {}): Promise<void> {
    const expected = this.#expectedOfGroup(group, options);
    await deleteGroup(this.#parts, group, expected, embeddedCaller(options), options.force === true);
  }

  get(group: string): DefinedGroup {
    return shownGroup(definedGroup(this.#parts, givenText('group', group)));
  }

  list(): DefinedGroup[] {
    const names = [...this.#parts.groups.numbers.keys()].sort();
    return names.map((name) => shownGroup(definedGroup(this.#parts, name)));
  }

  async attach(scope: string, attachment: Definition, options: ChangeOptions = {}): Promise<AttachedScope> {
    const written = plainMapping('attachment', attachment);
    const expected = this.#expectedOfScope(scope, options);
    const by = { ...embeddedCaller(options), tenants: null };
    return shownScope(await attach(this.#parts, scope, written, expected, by));
  }

  async detach(scope: string, options: ChangeOptions = {}): Promise<void> {
    const expected = this.#expectedOfScope(scope, options);
    await detach(this.#parts, scope, expected, { ...embeddedCaller(options), tenants: null });
  }

  attachments(): AttachedScope[] {
    return listAttachments(this.#parts).map(shownScope);
  }

  watch(listener: (change: RegistryChange) => void): () => void {
    if (typeof listener !== 'function') throw invalid('listener', `must be a function, got ${showSent(listener)}`);
    let failures = 0;
    // One warning is enough for one that fails at every change.
    const failed = (reason: string) => {
      if (failures++ === 0) warnEmbedder('CALLBACK_FAILED', { callback: 'the listener of groups.watch', reason });
    };
    return registryOf(this.#parts).watch((change) => callEmbedder(() => listener(change), failed));
  }

  #expectedOfGroup(group: string, options: ChangeOptions): Expected {
    const exists = this.#parts.groups.numbers.has(givenText('group', group));
    return expectedBy(options, exists, (reason) => new QuotameshError('GROUP_CHANGED', { group, reason }));
  }

  #expectedOfScope(scope: string, options: ChangeOptions): Expected {
    const exists = this.#parts.attachments.at(givenText('scope', scope)) !== null;
    return expectedBy(options, exists, (reason) => new QuotameshError('ATTACHMENT_CHANGED', { scope, reason }));
  }
}

function shownGroup({ group, origin, revision, definition }: FullGroup): DefinedGroup {
  return { group, origin, revision, definition };
}

function shownScope({ scope, origin, revision, attachment }: AttachedTo): AttachedScope {
  return { scope, origin, revision, attachment };
}
