import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { attachmentName } from '../../src/core/beside/registry/registry-record.js';
import { putGroup } from '../../src/node/groups/changes/change-group.js';
import { createWholeNode, type WholeNode } from '../whole-node.js';
import { BY_TEST } from './changed-by.js';
import { EmbeddedProcesses, type Participant } from './embedded-processes.js';
import { AUDITED_CHANGES, checkTrail, type Life, untilTrailsAreWhole } from './registry-kill-trail.js';

/** A writer changes so many groups at once: so many changes are under way when it dies. */
const GROUPS = 4;
/** It lives until so many changes were answered, then for a random time more: a change takes 1 to 5 ms. */
const CHANGES_BEFORE_KILL = 12;
const RANDOM_LIFE_MS = 25;
/** Started together, then used up one by one: a process takes longer to start than to live. */
const STARTED_TOGETHER = 5;
const NEWCOMER_EVERY = 50;
const DELETED_EVERY = 5;
const DEADLINE_MS = 30_000;
/** Others finish what the dead have left after 10 to 20 s. */
const FINISHED_MS = 100_000;
/** A change that waits for longer is kept from the log; less than that says what else the machine does. */
const APPEND_TIMEOUT_MS = 10_000;
/** Pause between looks at the node beside: often enough to stand between the writers, and cheap. */
const PAUSE_MS = 20;

export interface RegistryKillFigures {
  kills: number;
  /** Changes that were answered, of writers that were killed. */
  answered: number;
  /** Changes that were under way when their writer died: in force as a whole, or not at all. */
  whole: number;
  absent: number;
  /** Deletions among them, of groups with scopes that are attached to them. */
  wholeDeletions: number;
  absentDeletions: number;
  /** Answered and whole ones that were found in the audit trail. */
  audited: number;
}

/**
 * Kills a node that changes groups, again and again, beside one that goes on changing another: the state of every
 * group must be that of its last answered change or of the one behind it, the same for the node beside and for newcomers;
 * what is attached to a group goes with it or stays with it, as a whole; and the audit trail must tell how it came about.
 *
 * @param toTheEnd waits until others have put into the trail what the last 50 dead had no time for
 */
export async function killRegistryWriters(kills: number, { toTheEnd = false } = {}): Promise<RegistryKillFigures> {
  const processes = await EmbeddedProcesses.begin();
  const figures: RegistryKillFigures = {
    kills: 0,
    answered: 0,
    whole: 0,
    absent: 0,
    wholeDeletions: 0,
    absentDeletions: 0,
    audited: 0,
  };
  const beside = await Beside.begin(processes.path);
  try {
    const known = new Map<string, string>();
    let lives: Life[] = [];
    let standby: Writer[] = [];
    for (let kill = 0; kill < kills; kill++) {
      if (standby.length === 0) standby = await startWriters(processes, kill, Math.min(STARTED_TOGETHER, kills - kill));
      const writer = standby.shift() as Writer;
      await liveAndDie(writer.process);
      await beside.hasReadAll();
      lives.push(...examine(writer, beside.node, figures, known));
      figures.kills++;
      if (figures.kills % NEWCOMER_EVERY !== 0 && figures.kills !== kills) continue;
      const isWhole = () => lives.every((life) => checkTrail(beside.node, life, definitionOf));
      if (toTheEnd && figures.kills === kills) await untilTrailsAreWhole(isWhole, FINISHED_MS);
      await checkNewcomer(processes.path, known, lives);
      lives = [];
    }
    print(figures, beside);
    return figures;
  } finally {
    await beside.end();
    await processes.end();
  }
}

interface Writer {
  readonly node: string;
  readonly process: Participant;
}

function startWriters(processes: EmbeddedProcesses, first: number, count: number): Promise<Writer[]> {
  const starts = Array.from({ length: count }, async (_, at) => {
    // Ids of their own for those that live together; dead ones come back.
    const node = `writer-${at}`;
    const facts = { node, life: first + at, groups: GROUPS, auditedChanges: AUDITED_CHANGES };
    return { node, process: await processes.start('registry-writer.mjs', facts) };
  });
  return Promise.all(starts);
}

async function liveAndDie(writer: Participant): Promise<void> {
  writer.send('go');
  await writer.writes((output) => answeredIn(output) >= CHANGES_BEFORE_KILL, DEADLINE_MS);
  await sleep(Math.random() * RANDOM_LIFE_MS);
  writer.kill();
  expect(await writer.exitsWithin(DEADLINE_MS)).toEqual({ code: null, signal: 'SIGKILL' });
}

/** `known`: group → state, for newcomers. */
function examine(
  { node: writer, process: { output } }: Writer,
  beside: WholeNode,
  figures: RegistryKillFigures,
  known: Map<string, string>,
): Life[] {
  const { registry } = beside;
  const lives: Life[] = [];
  const [asked, answered] = [lastOf(output, '?'), lastOf(output, '!')];
  expect(asked.size).toBe(GROUPS);
  for (const [group, wanted] of asked) {
    const done = answered.get(group) ?? 0;
    const state = registry?.stateOf(group);
    const found = JSON.stringify(state?.definition);
    const allowed = [done, wanted].map((n) => JSON.stringify(definitionOf(n)));
    expect(allowed, `${group}: ${done} changes answered, ${wanted} asked for`).toContain(found);
    figures.answered += done;
    const end = found === allowed[1] ? 'whole' : 'absent';
    if (wanted > done) figures[end]++;
    if (wanted > done && wanted % DELETED_EVERY === 0) figures[`${end}Deletions`]++;
    known.set(group, JSON.stringify(state));
    examineScopes(group, { done, wanted }, beside, known);
    const life = { group, writer, answered: done, isWhole: wanted > done && found === allowed[1] };
    figures.audited += done + (checkTrail(beside, life, definitionOf) && life.isWhole ? 1 : 0);
    lives.push(life);
  }
  return lives;
}

/** Both scopes of a group that there is, none of one that there is not; but while they are being attached. */
function examineScopes(
  group: string,
  { done, wanted }: { readonly done: number; readonly wanted: number },
  { registry }: WholeNode,
  known: Map<string, string>,
): void {
  const names = [group, `${group}/same`].map(attachmentName);
  const states = names.map((name) => registry?.stateOf(name));
  for (const [at, name] of names.entries()) known.set(name, JSON.stringify(states[at]));
  const isGone = registry?.stateOf(group).definition === null;
  const isNew = wanted % DELETED_EVERY === 1;
  if (isNew && done === wanted) return;
  const attached = isGone || isNew ? [null, null] : [{ group }, { sameAs: group }];
  const what = `scopes of ${group}, ${isGone ? 'deleted' : 'there'}: ${done} changes answered, ${wanted} asked for`;
  expect(
    states.map((state) => state?.definition),
    what,
  ).toMatchObject(attached);
}

/** What programs/registry-writer.mjs makes of a group with its n-th change; before the first there is none. */
function definitionOf(n: number): object | null {
  return n % DELETED_EVERY === 0 ? null : { expectedCost: n, debtMs: n };
}

/** It knows what there is from what the dead have left in the log alone. */
async function checkNewcomer(path: string, known: ReadonlyMap<string, string>, lives: readonly Life[]): Promise<void> {
  const node = await nodeOf('newcomer', path);
  try {
    for (const [group, state] of known) {
      const found = node.registry?.stateOf(group);
      // Nothing of a deleted group may be left, not even its revision.
      if (JSON.parse(state).definition === null) expect(found?.definition, group).toBeNull();
      else expect(JSON.stringify(found), group).toBe(state);
    }
    for (const life of lives) checkTrail(node, life, definitionOf);
  } finally {
    await node.close();
  }
}

/** A node that changes a group of its own all the time, and must never be kept from it. */
class Beside {
  readonly node: WholeNode;
  changes = 0;
  slowestMs = 0;
  #stopped = false;
  #failure: unknown = null;
  readonly #working: Promise<void>;

  private constructor(node: WholeNode) {
    this.node = node;
    this.#working = this.#work().catch((error: unknown) => {
      this.#failure = error;
    });
  }

  static async begin(path: string): Promise<Beside> {
    return new Beside(await nodeOf('beside', path));
  }

  /** A change that is asked for from now on and answered shows that everything before it has been read. */
  async hasReadAll(): Promise<void> {
    await putGroup(this.node, 'read-all', {}, null, BY_TEST);
    if (this.#failure !== null) throw this.#failure;
  }

  async end(): Promise<void> {
    this.#stopped = true;
    await this.#working;
    await this.node.close();
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      const startMs = performance.now();
      await putGroup(this.node, 'beside', { expectedCost: this.changes + 1 }, null, BY_TEST);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startMs);
      this.changes++;
      await sleep(PAUSE_MS);
    }
  }
}

async function nodeOf(nodeId: string, path: string): Promise<WholeNode> {
  const config = {
    cluster: 'kills',
    node: nodeId,
    topic: { kind: 'embedded', path },
    groups: { orders: {} },
  };
  return createWholeNode(
    { config, env: {} },
    { registry: { auditedChanges: AUDITED_CHANGES }, embedded: { appendTimeoutMs: APPEND_TIMEOUT_MS } },
  );
}

function answeredIn(output: string): number {
  return output.split('!').length - 1;
}

/** Group → the last change of it in whole lines with this mark. */
function lastOf(output: string, mark: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const line of output.slice(0, output.lastIndexOf('\n')).split('\n')) {
    const [kind, group, n] = line.split(' ');
    if (kind === mark && group !== undefined) found.set(group, Number(n));
  }
  return found;
}

function print(figures: RegistryKillFigures, { changes, slowestMs }: Beside): void {
  const { kills, answered, whole, absent, wholeDeletions, absentDeletions, audited } = figures;
  console.log(
    `registry: ${kills} nodes killed -9 while they changed ${GROUPS} groups at once; ${answered} changes answered, 0 lost; ` +
      `of ${whole + absent} under way ${whole} in force as a whole, ${absent} absent ` +
      `(${wholeDeletions} and ${absentDeletions} deletions of groups with all that was attached to them); ${audited} of these changes in the audit trail when looked for, each once; ` +
      `the node beside made ${changes} changes, the slowest in ${slowestMs.toFixed(0)} ms`,
  );
}
