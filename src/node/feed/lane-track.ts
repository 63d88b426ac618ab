/** Remembers 15 minutes of a lane, a value per second. Units/s; NaN = not looked at. */
export class LaneTrack {
  readonly lane: number;
  /** Name; a number may pass to another. */
  readonly group: string;
  /** Tick when the lane last deserved a track. */
  worthAtTick: number;
  readonly #columns: Float32Array;
  /** Nodes with a column of their own; all others share the last. */
  readonly #nodeIds: string[] = [];

  constructor(lane: number, group: string, tick: number) {
    this.lane = lane;
    this.group = group;
    this.worthAtTick = tick;
    this.#columns = new Float32Array(TRACK_COLUMNS * TRACK_SECONDS).fill(Number.NaN);
  }

  clear(tick: number): void {
    const at = tick % TRACK_SECONDS;
    for (let column = 0; column < TRACK_COLUMNS; column++) this.#columns[column * TRACK_SECONDS + at] = Number.NaN;
  }

  write(tick: number, figures: LaneFigures, shares: readonly NodeShare[]): void {
    for (const [column, name] of FIGURES.entries()) this.#set(column, tick, figures[name]);
    let others = Number.NaN;
    for (const { nodeId, share } of shares) {
      const at = this.#columnOf(nodeId);
      if (at !== -1) this.#set(FIGURES.length + at, tick, share);
      else others = (Number.isNaN(others) ? 0 : others) + share;
    }
    this.#set(FIGURES.length + NAMED_NODES, tick, others);
  }

  figureAt(name: keyof LaneFigures, tick: number): number {
    return this.#columns[FIGURES.indexOf(name) * TRACK_SECONDS + (tick % TRACK_SECONDS)];
  }

  /** Reads seconds `from` to `to`, both included; null = unknown. */
  read(from: number, to: number): TrackStatus {
    const column = (at: number) => {
      return valuesOf(this.#columns.subarray(at * TRACK_SECONDS, (at + 1) * TRACK_SECONDS), from, to);
    };
    const nodes = this.#nodeIds.map((nodeId, at) => ({ nodeId, share: column(FIGURES.length + at) }));
    const others = column(FIGURES.length + NAMED_NODES);
    const figures: Columns = recordOf(FIGURES, (name) => column(FIGURES.indexOf(name)));
    const hasOthers = others.some((value) => value !== null);
    return { ...figures, nodes: hasOthers ? [...nodes, { nodeId: null, share: others }] : nodes };
  }

  #set(column: number, tick: number, value: number): void {
    this.#columns[column * TRACK_SECONDS + (tick % TRACK_SECONDS)] = value;
  }

  #columnOf(nodeId: string): number {
    const known = this.#nodeIds.indexOf(nodeId);
    if (known !== -1) return known;
    return this.#nodeIds.length === NAMED_NODES ? -1 : this.#nodeIds.push(nodeId) - 1;
  }
}

export interface LaneFigures {
  readonly quota: number;
  readonly target: number;
  readonly admitted: number;
  readonly wanted: number;
  /** Tokens in the cluster's bucket; NaN = nodes have gates. */
  readonly tokens: number;
  /** Refused units at this node. */
  readonly refused: number;
}

export interface NodeShare {
  readonly nodeId: string;
  readonly share: number;
}

type Columns = Readonly<Record<keyof LaneFigures, readonly (number | null)[]>>;

/** Columns of one value per second, oldest first. */
export interface TrackStatus extends Columns {
  /** Id of the node; null = the sum of all without a column. */
  readonly nodes: readonly { readonly nodeId: string | null; readonly share: readonly (number | null)[] }[];
}

export const TRACK_SECONDS = 900;
const FIGURES = ['quota', 'target', 'admitted', 'wanted', 'tokens', 'refused'] as const;
/** Columns of nodes: with the sum, twelve lines are as many as eyes tell apart. */
const NAMED_NODES = 11;
const TRACK_COLUMNS = FIGURES.length + NAMED_NODES + 1;

/** 18 columns × 900 s × 4 bytes = 64,800. */
export const TRACK_BYTES = TRACK_COLUMNS * TRACK_SECONDS * Float32Array.BYTES_PER_ELEMENT;

/** Reads a ring from second `from` to `to`, both included; null = unknown. */
export function valuesOf(ring: Float32Array | Float64Array, from: number, to: number): (number | null)[] {
  return Array.from({ length: to - from + 1 }, (_, at) => {
    const value = ring[(from + at) % TRACK_SECONDS];
    return Number.isNaN(value) ? null : shown(value);
  });
}

/** Rounds to the digits of a chart, half the text of a float. */
function shown(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(5));
}

export function recordOf<Name extends string, Value>(names: readonly Name[], make: (name: Name) => Value) {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Value>;
}
