import { groupIdOf } from '../base/ids.js';
import { BYTES, DIMENSION_COUNT, DIRECTIONS, type Direction, MESSAGES } from '../base/vocabulary.js';
import type { PublishedKeys, SilentRates } from '../keys/silent-use.js';
import type { LaneState } from '../lanes/lane-state.js';
import type { ObservedRow } from '../protocol/record.js';
import { createLaneRates, estimate, type LaneRates } from '../sample/estimate.js';
import { MEDIUM, SLOW } from '../sample/lane-sample.js';

/** The sources of a heartbeat's rows. */
export interface Observed {
  readonly cluster: string;
  /** The served lanes. */
  readonly lanes: readonly LaneState[];
  /** Topics in use now. */
  readonly topicsOf: (lane: number) => number;
  /** Null where there are no keys. */
  readonly keys: PublishedKeys | null;
  /** How many nodes are alive. */
  readonly nodes: number;
}

/**
 * Chooses the rates that heartbeats publish beside the reports of lanes. Where tokens are shared, a node that takes
 * what the others expect of it reports nothing for up to `forcedReportMs`. Its last report may be of the first moment
 * of its work: usage 0, a demand by two arrivals in a millisecond. Shares are right all the same, but people who look
 * at the rates are misled.
 *
 * *Why* no further reports: they change what others expect of the node, and after an exact report of a lull it was let
 * take all that it wanted, 116 to 139 of 100 in 10 s. No share follows from what heartbeats publish
 * (docs/decisions/0132).
 *
 * Reports name lanes by hashes. So heartbeats name keys, silent ones too, whether their rates are news or not: else a
 * node that does not use a key could not show it (docs/decisions/0145).
 *
 * Every node reads every heartbeat. So within one heartbeat's time all nodes together publish some 32 lanes, and a node
 * at most 8, which are 190 bytes and the names of keys. `worthOf` orders them. A lane far below its quota is among
 * them: its bucket is full, so nothing else is published of it.
 */
export class ObservedRates {
  readonly #told = new WeakMap<LaneState, Told>();
  #toldKeys = new WeakMap<LaneState, Told>();
  /** By name and direction. */
  readonly #toldSilent = new Map<string, Told>();
  #next = 0;
  /** Rows that may be told; a node of many has less than one per heartbeat. */
  #mayTell = 0;
  #nodes = 0;

  /** The rows of the next heartbeat. */
  next(observed: Observed, nowMs: number): ObservedRow[] {
    const { nodes } = observed;
    // A node that has come knows no names yet.
    if (nodes > this.#nodes) this.#forgetNames();
    this.#nodes = nodes;
    this.#mayTell = Math.min(ROWS_TOLD_MAX, this.#mayTell + ROWS_OF_ALL_NODES / Math.max(1, nodes));
    if (this.#mayTell < 1) return [];
    const news = [...this.#newsOfLanes(observed, nowMs), ...this.#newsOfSilent(observed, nowMs)];
    news.sort((one, other) => other.worth - one.worth);
    const told = news.slice(0, Math.floor(this.#mayTell));
    this.#mayTell -= told.length;
    return told.map(({ row, tell }) => {
      tell();
      return row;
    });
  }

  #forgetNames(): void {
    this.#toldKeys = new WeakMap();
    this.#toldSilent.clear();
  }

  #toldOf(isKey: boolean): WeakMap<LaneState, Told> {
    return isKey ? this.#toldKeys : this.#told;
  }

  #newsOfLanes({ lanes, topicsOf, keys }: Observed, nowMs: number): News[] {
    const news: News[] = [];
    for (let looked = Math.min(lanes.length, LANES_LOOKED_MAX); looked > 0; looked--) {
      this.#next = (this.#next + 1) % lanes.length;
      const lane = lanes[this.#next]!;
      const found = this.#look(lane, topicsOf(lane.lane), keys?.isKey(lane.group) === true, nowMs);
      if (found !== null) news.push(found);
    }
    return news;
  }

  /** Null where nothing has to be told. */
  #look(lane: LaneState, topics: number, isKey: boolean, nowMs: number): News | null {
    const { sample, tokens } = lane;
    const reportedTopics = lane.hasEntry ? lane.reportedTopics : 0;
    const hasOthers = areOthers(topics, reportedTopics);
    if (tokens?.isShared !== true && !isKey && !hasOthers) return null;
    if (tokens?.isDue === true || tokens?.isEnding === true) return null;
    // Keys do not wait for the slow span: a report of the first moments may say thousands of times what is wanted.
    const span = isKey && !sample.isFull(SLOW) ? MEDIUM : SLOW;
    if (!sample.isFull(span) || nowMs - sample.now.atMs > SAMPLE_FRESH_MS) return null;
    const told = this.#toldOf(isKey).get(lane);
    const reported = lane.hasEntry ? lane.reported : NOTHING;
    const rates = ratesIn(lane, span);
    const seconds = sample.lengthMs(span) / 1000;
    const isHeld = told !== undefined && isSame(told.beside, reported);
    const isUntold = isKey && told === undefined && hasUse(rates);
    const hasOtherTopics = areOthers(topics, isHeld ? told.topics : reportedTopics);
    const isNews = isUntold || hasOtherTopics || isFar(rates, isHeld ? told.rates : reported, seconds);
    const isLongAgo = told !== undefined && nowMs - told.atMs >= TOLD_AGAIN_MS;
    const isStillToTell = isKey ? hasUse(rates) : isHeld && (hasOthers || isFar(told.rates, reported, seconds));
    return isNews || (isLongAgo && isStillToTell) ? this.#newsOf(lane, topics, isKey, rates, nowMs) : null;
  }

  #newsOf(lane: LaneState, topics: number, isKey: boolean, rates: LaneRates, nowMs: number): News {
    const { groupId, direction, settings, hasEntry } = lane;
    const told = copyOf(rates);
    const beside = copyOf(hasEntry ? lane.reported : NOTHING);
    return {
      row: rowOf({ groupId, direction, topics, name: isKey ? settings.name : '' }, told.usage, told.demand),
      worth: worthOf(heatOf(lane, told), this.#toldOf(isKey).get(lane), nowMs),
      tell: () => this.#toldOf(isKey).set(lane, { beside, topics, rates: told, atMs: nowMs }),
    };
  }

  /** One that is not used any more is told once as such. */
  #newsOfSilent({ cluster, keys }: Observed, nowMs: number): News[] {
    const news: News[] = [];
    const inUse = new Set<string>();
    const look = (key: string, { name, direction, messages, bytes, heat }: SilentRates) => {
      const told = this.#toldSilent.get(key);
      const rates = ratesOf(messages, bytes);
      if (told !== undefined && nowMs - told.atMs < TOLD_AGAIN_MS && !isFar(rates, told.rates, COUNTED_S)) return;
      const named = { groupId: groupIdOf(cluster, name), direction, topics: 0, name };
      const row = rowOf(named, rates.usage, rates.demand);
      const tell = () => {
        if (heat === 0) this.#toldSilent.delete(key);
        // The first row may be of a moment.
        else
          this.#toldSilent.set(key, {
            beside: NOTHING,
            topics: 0,
            rates,
            atMs: told === undefined ? nowMs - FIRST_EARLIER_MS : nowMs,
          });
      };
      news.push({ row, worth: worthOf(heat, told, nowMs), tell });
    };
    for (const rates of keys?.busiest ?? []) {
      if (keys?.speaks(rates.name) === true) continue;
      const key = `${rates.direction}${rates.name}`;
      inUse.add(key);
      look(key, rates);
    }
    for (const key of this.#toldSilent.keys()) {
      const [direction, name] = [Number(key[0]), key.slice(1)];
      if (inUse.has(key)) continue;
      // Its report says more.
      if (keys?.speaks(name) !== false) this.#toldSilent.delete(key);
      else look(key, { name, direction, messages: 0, bytes: 0, heat: 0 });
    }
    return news;
  }
}

/** What was told of a lane, and the report that stood in the log then: it holds until that says something else. */
interface Told {
  readonly beside: LaneRates;
  readonly topics: number;
  readonly rates: LaneRates;
  /** Local monotonic time. */
  readonly atMs: number;
}

/** A row that should be told. */
interface News {
  readonly row: ObservedRow;
  readonly worth: number;
  /** It is told now. */
  readonly tell: () => void;
}

const NOTHING: LaneRates = createLaneRates();

/** More lanes than these take longer than a round's other work. */
const LANES_LOOKED_MAX = 512;
const ROWS_TOLD_MAX = 8;
/** Each node reads 80 kB a minute for it, however many there are. */
const ROWS_OF_ALL_NODES = 32;
/** A lane at rest has its turn to be sampled every 4 s at most (look-list.ts). */
const SAMPLE_FRESH_MS = 5000;
/** Publishes a row again for nodes that have read a report of the lane only since. */
const TOLD_AGAIN_MS = 30_000;
/** Publishes the first row of a silent key again so much sooner: it counts few requests. */
const FIRST_EARLIER_MS = 20_000;
/** Readers forget a row then (usage-map/observed-book.ts). */
const HOLDS_MS = 120_000;
/** Silent keys are counted over so long at least (keys/silent-use.ts). */
const COUNTED_S = 2.5;
const FAR_RATIO = 0.25;
const FAR_DEVIATIONS = 3;
/** The heat of a lane that nobody wants, or that nothing limits. */
const LEAST_HEAT = 0.01;

/**
 * Orders rows: a lane twice as hot is published twice as often, and no lane waits for ever.
 * Worked: 1,000 keys of one node, of which 20 are wanted ten times as much: those are published every 30 s, the others
 * as the rest of the rows allows.
 */
function worthOf(heat: number, told: Told | undefined, nowMs: number): number {
  const agoMs = told === undefined ? HOLDS_MS : Math.min(HOLDS_MS, nowMs - told.atMs);
  return (heat + LEAST_HEAT) * agoMs;
}

/** The largest part of a quota that is wanted. */
function heatOf({ settings, direction }: LaneState, { demand }: LaneRates): number {
  const quota = settings.quota[DIRECTIONS[direction] as Direction];
  const parts = [MESSAGES, BYTES].map((dimension) => demand[dimension]! / Math.max(quota[dimension]!, SMALLEST_QUOTA));
  return Math.max(...parts);
}

/** A quota of 0 that somebody wants is the hottest of all. */
const SMALLEST_QUOTA = 1e-9;

/** The result is scratch space: copy what is kept. */
function ratesIn({ sample }: LaneState, span: number): LaneRates {
  estimate(sample, span, scratch);
  return scratch;
}

const scratch = createLaneRates();

function hasUse({ usage, demand }: LaneRates): boolean {
  return [usage, demand].some((column) => column.some((rate) => rate > 0));
}

/**
 * Whether rates differ by more than a quarter, and by more than arrivals of the counted span make one expect.
 * @param counted over so many seconds; what was told may be by a few arrivals in a moment
 */
function isFar(counted: LaneRates, told: LaneRates, seconds: number): boolean {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const chance = FAR_DEVIATIONS * Math.sqrt((counted.squares[dimension] as number) / seconds);
    for (const column of ['usage', 'demand'] as const) {
      const [here, there] = [counted[column][dimension] as number, told[column][dimension] as number];
      if (Math.abs(here - there) > Math.max(chance, FAR_RATIO * Math.max(here, there))) return true;
    }
  }
  return false;
}

/** Checks whether the counts of topics differ by more than a quarter. */
function areOthers(topics: number, told: number): boolean {
  return Math.abs(topics - told) > FAR_RATIO * Math.max(topics, told);
}

function isSame(one: LaneRates, other: LaneRates): boolean {
  return (['usage', 'demand'] as const).every((column) =>
    one[column].every((rate, dimension) => rate === other[column][dimension]),
  );
}

function copyOf({ usage, demand, squares }: LaneRates): LaneRates {
  return { usage: usage.slice(), demand: demand.slice(), squares: squares.slice() };
}

/** Gives a key that is granted all that it asks for rates, as of requests of one message. */
function ratesOf(messages: number, bytes: number): LaneRates {
  const rates = Float64Array.of(messages, bytes);
  return { usage: rates, demand: rates, squares: Float64Array.of(messages, messages > 0 ? bytes ** 2 / messages : 0) };
}

type Named = Pick<ObservedRow, 'groupId' | 'direction' | 'topics' | 'name'>;

function rowOf(named: Named, usage: Float64Array, demand: Float64Array): ObservedRow {
  return {
    ...named,
    usageMessages: usage[MESSAGES]!,
    usageBytes: usage[BYTES]!,
    demandMessages: demand[MESSAGES]!,
    demandBytes: demand[BYTES]!,
  };
}
