/** What a lane was in the last 15 minutes, a value per second. Units per second; NaN = it was not looked at then. */
export class LaneTrack {
  readonly lane: number;
  /** A number may be given to another name. */
  readonly group: string;
  /** When the lane was last among those that are worth a track. */
  worthAtTick: number;
  readonly #columns: Float32Array;
  /** Nodes with a column of their own; the sum of all others has the last one. */
  readonly #nodeIds: string[] = [];

  constructor(lane: number, group: string, tick: number) {
    this.lane = lane;
    this.group = group;
    this.worthAtTick = tick;
    this.#columns = new Float32Array(TRACK_COLUMNS * TRACK_SECONDS).fill(Number.NaN);
  }

  /** The second begins: what stood here is 15 minutes old. */
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

  /** The columns from the second `from` to `to`, both included; null = not known. */
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
  /** In the cluster's bucket; NaN where each node has a gate. */
  readonly tokens: number;
  /** By this node. */
  readonly refused: number;
}

export interface NodeShare {
  readonly nodeId: string;
  readonly share: number;
}

type Columns = Readonly<Record<keyof LaneFigures, readonly (number | null)[]>>;

/** Columns of one value per second, the oldest first. */
export interface TrackStatus extends Columns {
  /** A node without an id is the sum of all that have no column of their own. */
  readonly nodes: readonly { readonly nodeId: string | null; readonly share: readonly (number | null)[] }[];
}

export const TRACK_SECONDS = 900;
const FIGURES = ['quota', 'target', 'admitted', 'wanted', 'tokens', 'refused'] as const;
/** Eyes tell no more lines apart than twelve: eleven nodes and all others. */
const NAMED_NODES = 11;
const TRACK_COLUMNS = FIGURES.length + NAMED_NODES + 1;

/** 18 columns × 900 s × 4 bytes = 64,800. */
export const TRACK_BYTES = TRACK_COLUMNS * TRACK_SECONDS * Float32Array.BYTES_PER_ELEMENT;

/** A ring of a value per second, from the second `from` to `to`, both included; null = not known. */
export function valuesOf(ring: Float32Array | Float64Array, from: number, to: number): (number | null)[] {
  return Array.from({ length: to - from + 1 }, (_, at) => {
    const value = ring[(from + at) % TRACK_SECONDS];
    return Number.isNaN(value) ? null : shown(value);
  });
}

/** With as many digits as a chart needs: half of the text of a float. */
function shown(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(5));
}

export function recordOf<Name extends string, Value>(names: readonly Name[], make: (name: Name) => Value) {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Value>;
}
