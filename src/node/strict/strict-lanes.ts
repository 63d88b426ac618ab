import type { Clock } from '../../base/ports/clock.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { GroupConfig } from '../../config/resolved/resolved-config.js';
import { isStrictGroup, isStrictLane, strictQuotaOf } from '../../config/resolved/strict-quota.js';
import { DIRECTION_COUNT, DIRECTIONS, laneOf, lanesOf } from '../../core/base/vocabulary.js';
import type { CoordinatorView } from '../../core/machine/coordinator-view.js';
import type { StrictLaneState } from '../api/node-status.js';
import type { GroupTable } from '../groups/group-table.js';
import { becauseOf, stateByLog, ToldStates } from './lane-states.js';
import { relaxedElsewhere } from './relaxed-elsewhere.js';
import type { StrictBucket } from './strict-bucket.js';
import { strictLaneName } from './strict-codec.js';
import type { StrictLog } from './strict-log.js';

interface StrictLanesParts {
  readonly log: Pick<StrictLog, 'add' | 'remove' | 'lost' | 'unsafe'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly cluster: string;
  readonly groups: GroupTable;
  readonly loop: CoordinatorView;
  /** Names other nodes alive by their YAML: group relaxed, or not known. */
  readonly promisesOf: (group: string) => { readonly relaxed: readonly string[]; readonly unknown: readonly string[] };
  /** Puts a group in force again, as its promise is another now. */
  readonly changed: (group: number) => void;
}

/** A lane that a strict bucket keeps. */
export interface StrictLane {
  readonly bucket: StrictBucket;
  readonly name: string;
  /** Other nodes that report use of it, as relaxed ones do. */
  readonly relaxedNodes: readonly string[];
  /** Time of this node from which it may admit: others that were relaxed have stopped by then. */
  readonly fromMs: number;
}

/** Strict lanes as admission sees them. */
export type KeptLanes = Pick<StrictLanes, 'get' | 'all' | 'read' | 'end' | 'stateOf' | 'because'>;

export const NO_STRICT_LANES: KeptLanes = {
  get: () => undefined,
  all: new Map(),
  read: () => {},
  end: () => {},
  stateOf: () => 'kept',
  because: () => '',
};

/** Milliseconds in which all nodes become strict after they agree. More: later grants, less overlap. */
const SETTLED_MS = 5000;
/** Milliseconds between looks at other nodes' reports. More: they are noticed later. */
const LOOK_MS = 500;

/** Keeps the strict lanes of groups. */
export class StrictLanes {
  readonly #parts: StrictLanesParts;
  readonly #lanes = new Map<number, StrictLane>();
  #timer: NodeJS.Timeout | null = null;
  /** Groups that were relaxed while this node ran. */
  readonly #relaxed = new Set<number>();
  readonly #agreed = new Set<number>();
  /** Group → nodes that do not keep it strict yet. */
  readonly #awaiting = new Map<number, readonly string[]>();
  readonly #told: ToldStates;

  constructor(parts: StrictLanesParts) {
    this.#parts = parts;
    const texts = { again: 'strict group is kept again', stopped: 'strict group admits nothing' };
    this.#told = new ToldStates(parts.telemetry, texts);
  }

  /** Follows what other nodes keep; call it before the log starts. */
  start(): void {
    this.#timer = setInterval(() => this.#lookAtOthers(), LOOK_MS).unref();
    this.#parts.groups.list.forEach((config, group) => {
      if (!isStrictGroup(config)) this.#relaxed.add(group);
    });
  }

  get(lane: number): StrictLane | undefined {
    return this.#lanes.get(lane);
  }

  get all(): ReadonlyMap<number, StrictLane> {
    return this.#lanes;
  }

  /** Nodes that a group awaits before it becomes strict; undefined = it does not wait. */
  awaitedBy(group: number): readonly string[] | undefined {
    return this.#awaiting.get(group);
  }

  /**
   * Follows a new or changed group. Its lanes begin at once if it is new here; one that was relaxed stays so until all
   * nodes agree. A group that becomes relaxed gives everything back.
   */
  read(group: number): void {
    const config = this.#parts.groups.at(group);
    const wasRelaxed = this.#relaxed.has(group);
    if (!isStrictGroup(config)) {
      this.#awaiting.delete(group);
      if (this.#timer !== null && !this.#parts.groups.isKey(group)) this.#relaxed.add(group);
      for (const lane of lanesOf(group)) this.end(lane);
    } else if (wasRelaxed && !this.#agreed.has(group)) {
      this.#awaiting.set(group, this.#awaiting.get(group) ?? []);
    } else {
      this.#begin(group, config);
    }
  }

  /** Gives back what a lane holds here. */
  end(lane: number): void {
    const known = this.#lanes.get(lane);
    if (known === undefined) return;
    this.#lanes.delete(lane);
    this.#told.forget(lane);
    this.#parts.log.remove(known.name);
  }

  /** Tells if this node knows what it may spend of a lane. */
  stateOf({ relaxedNodes, bucket, fromMs }: StrictLane): StrictLaneState {
    const state = stateByLog(this.#parts.log, bucket);
    if (state === 'topic-unsafe') return state;
    if (relaxedNodes.length > 0) return 'others-relaxed';
    return this.#parts.clock() < fromMs ? 'learning' : state;
  }

  /** Says for people why a lane admits nothing; '' = it does. */
  because(lane: StrictLane): string {
    return becauseOf(this.stateOf(lane), this.#parts.log, lane.relaxedNodes.slice(0, NAMES_SHOWN).join(', '));
  }

  /** Follows nothing from now on; what it holds is given back as the log closes. */
  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#lanes.clear();
  }

  #begin(group: number, config: GroupConfig): void {
    const wasRelaxed = this.#relaxed.delete(group);
    this.#agreed.delete(group);
    const fromMs = wasRelaxed ? this.#parts.clock() + SETTLED_MS : -Infinity;
    for (const [at, direction] of DIRECTIONS.entries()) {
      const lane = laneOf(group, at);
      if (!isStrictLane(config, direction)) {
        this.end(lane);
        continue;
      }
      const known = this.#lanes.get(lane);
      const quota = strictQuotaOf(config, direction);
      known?.bucket.propose(quota);
      if (known !== undefined) continue;
      const name = strictLaneName(this.#parts.cluster, config.name, direction);
      this.#lanes.set(lane, { bucket: this.#parts.log.add(name, quota), name, relaxedNodes: [], fromMs });
    }
  }

  /** Follows what others keep: groups that wait become strict once all agree. */
  #lookAtOthers(): void {
    for (const group of this.#awaiting.keys()) {
      const { relaxed, unknown } = this.#parts.promisesOf(this.#parts.groups.at(group).name);
      this.#awaiting.set(group, [...relaxed, ...unknown].sort());
      if (relaxed.length + unknown.length > 0) continue;
      this.#awaiting.delete(group);
      this.#agreed.add(group);
      this.#parts.changed(group);
    }
    for (const [lane, known] of this.#lanes) {
      const { relaxed } = this.#parts.promisesOf(this.#parts.groups.ofLane(lane).name);
      const nodes = new Set([...relaxed, ...relaxedElsewhere(this.#parts.loop, lane)]);
      this.#lanes.set(lane, { ...known, relaxedNodes: [...nodes].sort() });
    }
    this.#tell();
  }

  /** Logs when a lane cannot be kept, and when it can again. */
  #tell(): void {
    for (const [lane, known] of this.#lanes) {
      const { name: group } = this.#parts.groups.ofLane(lane);
      const facts = { group, direction: DIRECTIONS[lane % DIRECTION_COUNT] };
      this.#told.tell(lane, this.stateOf(known), this.because(known), facts);
    }
  }
}

const NAMES_SHOWN = 5;
