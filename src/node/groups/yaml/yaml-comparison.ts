import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';
import type { Clock } from '../../../base/ports/clock.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import { clusterHashOf } from '../../../core/base/ids.js';
import { type RegistryKeys, registryKeys, type YamlRecord } from '../../../core/beside/registry/registry-record.js';
import type { CoordinatorView } from '../../../core/machine/coordinator-view.js';
import { DEFINITION_BYTES_MAX } from '../../../topic/codec/registry-codec.js';
import type { GroupTable } from '../group-table.js';
import type { YamlGroups } from './yaml-groups.js';

/** Records of a node's groups: 10,000 groups are about 1 KB a part. */
const PARTS = 256;
/** Milliseconds until a record that has not come back is sent again. */
const RESEND_MS = 5000;
/** Milliseconds: a record may be older in the log than its node's membership. */
const STRANGER_MS = 60_000;
/** Most bytes of other nodes' hashes: 100 nodes of 10,000 groups; made-up authors would fill the memory. */
export const READ_BYTES_MAX = 2 ** 26;
/** Bytes of a record beside its hashes. */
const RECORD_BYTES = 256;

/** Begins the hash of a strict group. */
export const STRICT_MARK = 's';

/** Group of YAML that nodes have otherwise, or some lack. */
export interface YamlDifference {
  readonly group: string;
  readonly nodes: readonly string[];
}

interface KeyedYaml {
  readonly key: string;
  readonly record: YamlRecord | null;
}

interface ReadYaml {
  readonly record: YamlRecord;
  readonly isToRenew: boolean;
  readonly readMs: number;
  readonly bytes: number;
}

interface YamlComparisonParts {
  readonly cluster: string;
  readonly nodeId: string;
  /** Version of this program; nodes of others are not compared. */
  readonly version: string;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly loop: CoordinatorView;
  readonly groups: GroupTable;
  readonly yaml: Pick<YamlGroups, 'version' | 'hashes'>;
  readonly isRegistered: (name: string) => boolean;
}

/**
 * Compares the nodes' YAML by hashes of groups in the registry's topic; informs people alone. Nodes of other versions
 * are left out: their defaults may differ.
 */
export class YamlComparison {
  differences: readonly YamlDifference[] = [];
  /** Impossible records, or those without room: not compared. */
  ignored = 0;
  readonly #parts: YamlComparisonParts;
  readonly #keys: RegistryKeys;
  /** Key → record, and since when it is known. */
  readonly #read = new Map<string, ReadYaml>();
  #readBytes = 0;
  #isFull = false;
  #sentMs = -Infinity;
  #compared = '';
  /** Changes and version at which all own hashes stood in the log: until they move, none is computed again. */
  #written = '';
  #changes = 0;

  constructor(parts: YamlComparisonParts) {
    this.#parts = parts;
    this.#keys = registryKeys(clusterHashOf(parts.cluster));
  }

  /** Reads a record. @param isToRenew its own node has to write it again, unchanged */
  read(key: string, record: YamlRecord | null, isToRenew = false): void {
    this.#forget(key);
    if (record !== null && this.#keys.yaml(record.author, record.part) === key && record.part < PARTS) {
      this.#keep(key, record, isToRenew);
    } else if (record !== null) {
      this.ignored++;
    }
    this.#changes++;
  }

  #forget(key: string): void {
    this.#readBytes -= this.#read.get(key)?.bytes ?? 0;
    this.#read.delete(key);
  }

  #keep(key: string, record: YamlRecord, isToRenew: boolean): void {
    const bytes = RECORD_BYTES + JSON.stringify(record.groups).length;
    // Own records are bounded by the parts; without them they would be written again and again.
    if (record.author === this.#parts.nodeId || this.#readBytes + bytes <= READ_BYTES_MAX) {
      this.#read.set(key, { record, isToRenew, readMs: this.#parts.clock(), bytes });
      this.#readBytes += bytes;
      return;
    }
    this.ignored++;
    if (this.#isFull) return;
    this.#isFull = true;
    const text = 'no room for more hashes of YAML of other nodes; these and further ones are not compared';
    this.#parts.telemetry.log('warn', text, { nodeId: record.author.slice(0, 80), maxBytes: READ_BYTES_MAX });
  }

  /** Lists other nodes alive by their YAML: group relaxed, or nothing known yet. */
  promisesOf(group: string): { readonly relaxed: readonly string[]; readonly unknown: readonly string[] } {
    const { loop, nodeId: self } = this.#parts;
    const others = new Set(loop.coordinator?.membership.alive.map(({ nodeId }) => nodeId));
    others.delete(self);
    const unknown = new Set(others);
    const relaxed = new Set<string>();
    for (const { record } of this.#read.values()) {
      const hash = record.groups[group];
      unknown.delete(record.author);
      if (others.has(record.author) && hash !== undefined && !hash.startsWith(STRICT_MARK)) relaxed.add(record.author);
    }
    return { relaxed: [...relaxed], unknown: [...unknown] };
  }

  /** Renews all hashes when another log begins. */
  beginEpoch(): void {
    this.#read.clear();
    this.#readBytes = 0;
    this.#sentMs = -Infinity;
    this.#changes++;
  }

  /** Compares where there is news; returns records to write. Once a second. */
  tick(): readonly KeyedYaml[] {
    const { loop, yaml, groups } = this.#parts;
    const { coordinator } = loop;
    if (coordinator === null || !coordinator.isReady) return [];
    const state = `${this.#changes}/${yaml.version}/${groups.version}/${coordinator.membership.changes}`;
    if (state !== this.#compared) this.#compare();
    this.#compared = state;
    const nowMs = this.#parts.clock();
    if (nowMs - this.#sentMs < RESEND_MS) return [];
    const own = `${this.#changes}/${yaml.version}`;
    const ownDue = own === this.#written ? [] : this.#ownDue().filter(isSmall);
    if (ownDue.length === 0) this.#written = own;
    const due = [...ownDue, ...this.#strangers(nowMs).filter(isSmall)];
    if (due.length > 0) this.#sentMs = nowMs;
    return due;
  }

  #ownDue(): KeyedYaml[] {
    const { nodeId, version, yaml } = this.#parts;
    const parts = Array.from({ length: PARTS }, (): Record<string, string> => Object.create(null));
    for (const [name, hash] of yaml.hashes) (parts[crc32(name) % PARTS] ?? {})[name] = hash;
    return parts.flatMap((groups, part): KeyedYaml[] => {
      const key = this.#keys.yaml(nodeId, part);
      const known = this.#read.get(key);
      const isEmpty = Object.keys(groups).length === 0;
      if (isEmpty) return known === undefined ? [] : [{ key, record: null }];
      const record: YamlRecord = { kind: 'yaml', author: nodeId, version, part, groups: { ...groups } };
      return known?.isToRenew === false && isDeepStrictEqual(known.record, record) ? [] : [{ key, record }];
    });
  }

  /** Returns forgotten nodes' records: the node with the lowest key removes them. */
  #strangers(nowMs: number): KeyedYaml[] {
    const { coordinator } = this.#parts.loop;
    if (coordinator === null || coordinator.membership.alive[0]?.nodeKey !== coordinator.nodeKey) return [];
    const known = new Set(Array.from(coordinator.membership.all(), ({ nodeId }) => nodeId));
    return [...this.#read]
      .filter(([, { record, readMs }]) => !known.has(record.author) && nowMs - readMs > STRANGER_MS)
      .map(([key]) => ({ key, record: null }));
  }

  #compare(): void {
    const before = this.differences;
    this.differences = this.#find();
    if (isDeepStrictEqual(before, this.differences)) return;
    if (this.differences.length === 0) this.#parts.telemetry.log('info', 'all nodes have the same YAML again');
    else this.#parts.telemetry.log('warn', 'nodes have different YAML', shown(this.differences));
  }

  #find(): YamlDifference[] {
    const { nodeId: self, yaml, isRegistered } = this.#parts;
    const found = new Map<string, string[]>();
    for (const [nodeId, groups] of this.#ofOthers(self)) {
      for (const name of new Set([...yaml.hashes.keys(), ...groups.keys()])) {
        if (yaml.hashes.get(name) === groups.get(name)) continue;
        if (isRegistered(name)) continue;
        found.set(name, [...(found.get(name) ?? []), nodeId]);
      }
    }
    return Array.from(found, ([group, nodes]) => ({ group, nodes })).sort((one, other) => {
      return one.group < other.group ? -1 : 1;
    });
  }

  /** Returns other nodes' YAML: alive, of this version, published. */
  #ofOthers(self: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
    const alive = new Set(this.#parts.loop.coordinator?.membership.alive.map(({ nodeId }) => nodeId));
    const others = new Map<string, Map<string, string>>();
    for (const { record } of this.#read.values()) {
      const { author, version, groups } = record;
      if (author === self || version !== this.#parts.version || !alive.has(author)) continue;
      const known = others.get(author) ?? new Map<string, string>();
      for (const [name, hash] of Object.entries(groups)) known.set(name, hash);
      others.set(author, known);
    }
    return others;
  }
}

/** Tests if a part fits in a record; above 100,000 long-named groups it may not, and passes for missing. */
function isSmall({ record }: KeyedYaml): boolean {
  return record === null || Buffer.byteLength(JSON.stringify(record)) <= DEFINITION_BYTES_MAX;
}

export const NAMES_SHOWN_MAX = 20;

export function shown(differences: readonly YamlDifference[]): { readonly groups: string; readonly nodes: string } {
  const names = differences.slice(0, NAMES_SHOWN_MAX).map(({ group }) => group);
  const more = differences.length > NAMES_SHOWN_MAX ? [`and ${differences.length - NAMES_SHOWN_MAX} more`] : [];
  const nodes = new Set(differences.flatMap((difference) => difference.nodes));
  return { groups: [...names, ...more].join(', '), nodes: [...nodes].sort().join(', ') };
}
