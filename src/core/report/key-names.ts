import { COUNTED_MS, LANES_PER_ROUND, NAMED_AGAIN_MS, NAMED_KEYS } from '../account/constants.js';
import type { PublishedKeys } from '../account/keys/silent-use.js';
import type { LaneState } from '../account/lanes/lane-state.js';
import { ROUNDING_ERROR } from '../base/constants.js';
import { groupIdOf } from '../base/ids.js';
import type { KeyRow } from '../base/protocol/record.js';
import { DIRECTIONS } from '../base/vocabulary.js';
import { SILENT_RATES_MS } from '../usage-map/constants.js';
import { CHANCE_DEVIATIONS, SHOWN_CHANGE_RATIO, SMALL_CHANGE_RATIO } from './constants/constants.js';

/** The sources of a heartbeat's rows. */
export interface NamedKeys {
  readonly cluster: string;
  /** The served lanes by their seats. */
  readonly lanes: readonly (LaneState | null)[];
  readonly keys: PublishedKeys;
  /** Number of nodes that are alive. */
  readonly nodes: number;
}

/**
 * Chooses the keys that the next heartbeat names. Reports name lanes by hashes, and silent keys have none: a node that
 * does not use a key could not show it (docs/decisions/0099). No share follows from the names.
 *
 *     a key with reports   its name; its rates are in them
 *     a silent key         its name, and this node's grants of it
 *
 * Each row is published again every 30 s. Every node reads every heartbeat: within one heartbeat's time all nodes
 * together publish some 32 rows, and a node at most 8. `worthOf` orders them.
 */
export class KeyNames {
  readonly #published = new Map<string, Published>();
  #next = 0;
  /** Rows that may be published; a node of many has less than one per heartbeat. */
  #mayPublish = 0;
  #nodes = 0;

  /** Returns the rows of the next heartbeat. */
  next(named: NamedKeys, nowMs: number): KeyRow[] {
    const { nodes } = named;
    // A node that has come has no names yet.
    if (nodes > this.#nodes) this.#published.clear();
    this.#nodes = nodes;
    this.#mayPublish = Math.min(ROWS_PUBLISHED_MAX, this.#mayPublish + NAMED_KEYS / Math.max(1, nodes));
    if (this.#mayPublish < 1) return [];
    const news = [...this.#reported(named), ...this.#silent(named)]
      .map((key) => ({ ...key, worth: worthOf(key.heat, this.#published.get(key.key), nowMs) }))
      .filter(({ key, row }) => isNews(row, this.#published.get(key), nowMs))
      .sort((one, other) => other.worth - one.worth)
      .slice(0, Math.floor(this.#mayPublish));
    this.#mayPublish -= news.length;
    for (const named of news) this.#publish(named, nowMs);
    return news.map(({ row }) => row);
  }

  #publish({ key, row, heat }: Named, nowMs: number): void {
    // The first row of a silent key counts few requests.
    const atMs = isSilent(row) && !this.#published.has(key) ? nowMs - FIRST_EARLIER_MS : nowMs;
    if (heat === OVER) this.#published.delete(key);
    else this.#published.set(key, { row, atMs });
  }

  *#reported({ lanes, keys }: NamedKeys): Generator<Named> {
    for (let looked = Math.min(lanes.length, LANES_PER_ROUND); looked > 0; looked--) {
      this.#next = (this.#next + 1) % lanes.length;
      const lane = lanes[this.#next];
      if (!lane?.entry.isOpen || !keys.isKey(lane.group)) continue;
      const { settings, groupId, direction, reported } = lane;
      const quota = settings.quota[DIRECTIONS[direction]];
      // Demand for a quota of 0 is the hottest.
      const heat = Math.max(...Array.from(reported.demand, (rate, at) => rate / Math.max(quota[at], ROUNDING_ERROR)));
      const { name } = settings;
      yield { key: `${direction}${name}`, heat, row: { groupId, direction, name, messages: 0, bytes: 0 } };
    }
  }

  /** Lists the busiest silent keys, and once each that is unused since. */
  *#silent({ cluster, keys }: NamedKeys): Generator<Named> {
    const inUse = new Set<string>();
    for (const { name, direction, messages, bytes, heat } of keys.busiest) {
      if (keys.isPublished(name)) continue;
      const key = `${direction}${name}`;
      inUse.add(key);
      yield { key, heat, row: { groupId: groupIdOf(cluster, name), direction, name, messages, bytes } };
    }
    for (const [key, { row }] of this.#published) {
      if (inUse.has(key) || !isSilent(row)) continue;
      // The reports of a loud key contain more.
      if (keys.isPublished(row.name)) this.#published.delete(key);
      else yield { key, heat: OVER, row: { ...row, messages: 0, bytes: 0 } };
    }
  }
}

interface Named {
  /** Name and direction. */
  readonly key: string;
  /** The largest part of a quota in demand. */
  readonly heat: number;
  readonly row: KeyRow;
}

interface Published {
  readonly row: KeyRow;
  /** Local monotonic time. */
  readonly atMs: number;
}

/** The heat of a silent key that is not used any more. */
const OVER = 0;
const ROWS_PUBLISHED_MAX = NAMED_KEYS / 4;
/** Milliseconds by which a silent key's first row repeats sooner. */
const FIRST_EARLIER_MS = (2 * NAMED_AGAIN_MS) / 3;

function isSilent({ messages, bytes }: KeyRow): boolean {
  return messages > 0 || bytes > 0;
}

/**
 * Orders rows: a key twice as hot is published twice as often, and none waits for ever.
 *
 * *Worked:* 1,000 keys of one node, of which 20 are ten times as hot: those are published every 30 s, the others as the
 * rest of the rows allows.
 */
function worthOf(heat: number, published: Published | undefined, nowMs: number): number {
  return (
    (heat + SMALL_CHANGE_RATIO) *
    (published === undefined ? SILENT_RATES_MS : Math.min(SILENT_RATES_MS, nowMs - published.atMs))
  );
}

/** Tests if a row has changed or is due again. */
function isNews(row: KeyRow, published: Published | undefined, nowMs: number): boolean {
  if (published === undefined || nowMs - published.atMs >= NAMED_AGAIN_MS) return true;
  const chance = CHANCE_DEVIATIONS * Math.sqrt(row.messages / (COUNTED_MS / 1000));
  const change = Math.abs(row.messages - published.row.messages);
  if (change > Math.max(chance, SHOWN_CHANGE_RATIO * Math.max(row.messages, published.row.messages))) return true;
  return isSilent(row) !== isSilent(published.row);
}
