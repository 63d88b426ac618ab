import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  type Scalar,
} from 'yaml';
import { didYouMean } from '../../../base/input/nearest-name.js';
import { formatPath } from '../../../config/setting/config-error.js';
import type { ConfigPath } from '../../../config/setting/findings.js';
import { show } from '../../../config/setting/setting-text.js';
import { aliasTargets, locationAt, openYaml } from '../../../config/yaml/parse-yaml.js';
import type { RuleMetadata } from './rule-metadata.js';
import type { RuleFindings, RulePlace, WrittenDescriptor, WrittenLimit, WrittenRules } from './written-rules.js';

/**
 * Reads a file of envoyproxy/ratelimit: one domain. Every plain value is its text, as there: `value: 1.0` is "1.0".
 * Returns null where no domain can be read.
 */
export function readYamlRules(file: string, text: string, findings: RuleFindings): WrittenRules | null {
  const opened = openYaml(text, 'failsafe');
  if ('mistakes' in opened) {
    for (const { location, path, ...mistake } of opened.mistakes) {
      findings.add({ file, line: location.line, column: location.column, path: formatPath(path) }, mistake);
    }
    return null;
  }
  return new RuleReader(file, opened, findings).read();
}

/** Keys of each mapping. One of another mapping is told, and means nothing, as there. */
const ROOT_KEYS = ['domain', 'descriptors'];
const DESCRIPTOR_KEYS = [
  'key',
  'value',
  'rate_limit',
  'descriptors',
  'shadow_mode',
  'quota_mode',
  'detailed_metric',
  'value_to_metric',
  'share_threshold',
  'metadata',
];
const LIMIT_KEYS = ['unit', 'requests_per_unit', 'unlimited', 'name', 'replaces'];
const REPLACE_KEYS = ['name'];
const ALL_KEYS = new Set([...ROOT_KEYS, ...DESCRIPTOR_KEYS, ...LIMIT_KEYS]);

/** Most nested lists; a request has an entry for each. */
export const DEPTH_MAX = 20;
/** Most values of one rule's metadata: aliases multiply. */
const METADATA_NODES_MAX = 1000;
/** Most descriptors of a file: aliases multiply. */
const DESCRIPTORS_MAX = 100_000;

class RuleReader {
  readonly #file: string;
  readonly #document: Document;
  readonly #lines: LineCounter;
  readonly #findings: RuleFindings;
  readonly #targets: ReadonlyMap<Alias, Node>;
  #descriptors = 0;

  constructor(file: string, { document, lines }: { document: Document; lines: LineCounter }, findings: RuleFindings) {
    this.#file = file;
    this.#document = document;
    this.#lines = lines;
    this.#findings = findings;
    this.#targets = aliasTargets(document);
  }

  read(): WrittenRules | null {
    const root = this.#behind(this.#document.contents);
    const place = this.#place(root, []);
    if (!isMap(root)) {
      this.#wrong(
        root,
        [],
        'a mapping with domain and descriptors',
        'Write domain: and descriptors: at its beginning.',
      );
      return null;
    }
    const fields = this.#fields(root, [], ROOT_KEYS);
    const domain = this.#text(fields, ['domain']);
    const descriptors = this.#list(fields, ['descriptors'], (node, path) => this.#descriptor(node, path, 1));
    return { place: fields.has('domain') ? this.#placeOf(fields, ['domain']) : place, domain, descriptors };
  }

  #descriptor(node: Node | null, path: ConfigPath, depth: number): WrittenDescriptor[] {
    if (!isMap(node)) {
      this.#wrong(node, path, 'a descriptor: a mapping with a key', 'Write `- key: …`.');
      return [];
    }
    if (depth > DEPTH_MAX || ++this.#descriptors > DESCRIPTORS_MAX) {
      if (this.#descriptors <= DESCRIPTORS_MAX + 1) this.#tooMany(node, path);
      return [];
    }
    const fields = this.#fields(node, path, DESCRIPTOR_KEYS);
    const at = (key: string): ConfigPath => [...path, key];
    const place = this.#place(node, path);
    const limit = fields.get('rate_limit');
    for (const key of ['detailed_metric', 'value_to_metric']) {
      if (this.#switch(fields, at(key))) {
        const note =
          'changes no metric: series are per group and template, and `quotamesh top` shows the busiest values';
        this.#findings.note(this.#placeOf(fields, at(key)), note);
      }
    }
    return [
      {
        place,
        key: this.#text(fields, at('key')),
        value: this.#text(fields, at('value')),
        limit: limit === undefined || isNothing(limit.value) ? null : this.#limit(limit.value, at('rate_limit')),
        isShadow: this.#switch(fields, at('shadow_mode')),
        isQuota: this.#switch(fields, at('quota_mode')),
        sharesThreshold: this.#switch(fields, at('share_threshold')),
        metadata: this.#metadata(fields, at('metadata')),
        descriptors: this.#list(fields, at('descriptors'), (one, where) => this.#descriptor(one, where, depth + 1)),
      },
    ];
  }

  #limit(node: Node | null, path: ConfigPath): WrittenLimit | null {
    if (!isMap(node)) {
      this.#wrong(node, path, 'a mapping with unit and requests_per_unit', 'Indent them below rate_limit.');
      return null;
    }
    const fields = this.#fields(node, path, LIMIT_KEYS);
    return {
      place: this.#place(node, path),
      unit: this.#text(fields, [...path, 'unit']),
      requestsPerUnit: this.#count(fields, [...path, 'requests_per_unit']),
      isUnlimited: this.#switch(fields, [...path, 'unlimited']),
      label: this.#text(fields, [...path, 'name']),
      replaces: this.#list(fields, [...path, 'replaces'], (one, where) => {
        if (isMap(one)) return [this.#text(this.#fields(one, where, REPLACE_KEYS), [...where, 'name'])];
        this.#wrong(one, where, 'a mapping with a name', 'Write `- name: …`.');
        return [];
      }),
    };
  }

  /** Lists a mapping's keys, those that `<<` merges included; tells of unknown ones. */
  #fields(node: Node, path: ConfigPath, known: readonly string[], depth = 0): Fields {
    const fields = new Map<string, Field>();
    if (!isMap(node)) return fields;
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      const at = key as Node;
      if (name === '<<' && depth < MERGES_MAX) {
        for (const merged of this.#merged(value as Node | null)) {
          for (const [each, field] of this.#fields(merged, path, known, depth + 1)) {
            if (!fields.has(each)) fields.set(each, field);
          }
        }
        continue;
      }
      this.#checkKey(at, [...path, name], known, fields.get(name));
      fields.set(name, { key: at, value: this.#behind(value as Node | null), isMerged: depth > 0 });
    }
    return fields;
  }

  #merged(value: Node | null): readonly Node[] {
    const node = this.#behind(value);
    if (isSeq(node)) return node.items.flatMap((item) => this.#behind(item as Node) ?? []);
    return node === null ? [] : [node];
  }

  #checkKey(node: Node, path: ConfigPath, known: readonly string[], before: Field | undefined): void {
    const name = String(path.at(-1));
    if (known.includes(name)) {
      if (before === undefined || before.isMerged) return;
      const problem = `is written twice, first in line ${this.#place(before.key, path).line}`;
      this.#findings.add(this.#place(node, path), {
        problem,
        allowed: 'each key once',
        remedy: 'Keep one of the two.',
      });
    } else if (ALL_KEYS.has(name)) {
      this.#findings.note(this.#place(node, path), `means nothing here, as with ratelimit: ${PLACES[name]}`);
    } else {
      const allowed = `one of ${known.join(', ')}`;
      const newer = 'Remove it; a newer ratelimit may know it, this version of quotamesh does not.';
      const remedy = didYouMean(name, known) || newer;
      this.#findings.add(this.#place(node, path), { problem: 'is no known key', allowed, remedy });
    }
  }

  #text(fields: Fields, path: ConfigPath): string {
    const node = fields.get(String(path.at(-1)))?.value ?? null;
    if (isNothing(node)) return '';
    if (isScalar(node)) return String(node.value);
    this.#wrong(node, path, 'a text', 'Write one text; put it in quotes if it begins with [ or {.');
    return '';
  }

  #switch(fields: Fields, path: ConfigPath): boolean {
    const node = fields.get(String(path.at(-1)))?.value ?? null;
    if (isNothing(node)) return false;
    const text = isScalar(node) && node.type === 'PLAIN' ? String(node.value).toLowerCase() : '';
    if (TRUE.has(text)) return true;
    if (!FALSE.has(text)) this.#wrong(node, path, 'true or false', 'Write true or false, without quotes.');
    return false;
  }

  #count(fields: Fields, path: ConfigPath): number | null {
    const node = fields.get(String(path.at(-1)))?.value ?? null;
    if (isNothing(node)) return null;
    const text = isScalar(node) && node.type === 'PLAIN' ? String(node.value).replaceAll('_', '') : '';
    const count = /^(\+?[1-9]\d*|0|0x[0-9a-f]+|[1-9]\d*\.0+)$/i.test(text) ? Number(text) : Number.NaN;
    if (count <= COUNT_MAX) return count;
    const remedy = 'Write a plain number, without quotes, sign, fraction and leading zeros; 0 blocks.';
    this.#wrong(node, path, `a whole number from 0 to ${COUNT_MAX}`, remedy);
    return 0;
  }

  /** Answers say what limits a descriptor: its metadata is in none. */
  #metadata(fields: Fields, path: ConfigPath): RuleMetadata | null {
    const node = this.#behind(fields.get('metadata')?.value ?? null);
    if (isNothing(node)) return null;
    const left = { nodes: METADATA_NODES_MAX };
    const metadata = isMap(node) ? this.#plain(node, 1, left) : null;
    if (left.nodes < 0) {
      const allowed = `${METADATA_NODES_MAX} values, ${DEPTH_MAX} levels`;
      this.#findings.add(this.#place(node, path), { problem: 'is too large', allowed, remedy: 'Say less in it.' });
    } else if (metadata === null) this.#wrong(node, path, 'a mapping', 'Indent its keys below metadata.');
    return metadata as RuleMetadata | null;
  }

  /** Reads JSON's values; aliases are followed, and count. */
  #plain(given: Node | null, depth: number, left: { nodes: number }): unknown {
    const node = this.#behind(given);
    if (--left.nodes < 0 || depth > DEPTH_MAX) {
      left.nodes = -1;
      return null;
    }
    if (isSeq(node)) return node.items.map((item) => this.#plain(item as Node, depth + 1, left));
    if (!isMap(node)) return isScalar(node) && !isNothing(node) ? scalarIn(node) : null;
    return Object.fromEntries(
      node.items.map(({ key, value }) => [String(key), this.#plain(value as Node | null, depth + 1, left)]),
    );
  }

  #list<Read>(
    fields: Fields,
    path: ConfigPath,
    each: (node: Node | null, path: ConfigPath) => readonly Read[],
  ): Read[] {
    const node = fields.get(String(path.at(-1)))?.value ?? null;
    if (isNothing(node)) return [];
    if (isSeq(node)) return node.items.flatMap((item, at) => each(this.#behind(item as Node), [...path, at]));
    this.#wrong(node, path, 'a list', 'Begin each of its entries with `- `.');
    return [];
  }

  #behind(node: Node | null): Node | null {
    return isAlias(node) ? (this.#targets.get(node) ?? null) : node;
  }

  #tooMany(node: Node, path: ConfigPath): void {
    const problem = `is more than ${DEPTH_MAX} levels deep, or the ${DESCRIPTORS_MAX}th descriptor of the file`;
    const allowed = `${DEPTH_MAX} levels, ${DESCRIPTORS_MAX} descriptors`;
    this.#findings.add(this.#place(node, path), { problem, allowed, remedy: 'Nest less, or divide the file.' });
  }

  #wrong(node: Node | null, path: ConfigPath, allowed: string, remedy: string): void {
    const got = isScalar(node) ? show(node.value) : isSeq(node) ? 'a list' : isMap(node) ? 'a mapping' : 'nothing';
    this.#findings.add(this.#place(node, path), { problem: `must be ${allowed}, got ${got}`, allowed, remedy });
  }

  #placeOf(fields: Fields, path: ConfigPath): RulePlace {
    return this.#place(fields.get(String(path.at(-1)))?.key ?? null, path);
  }

  #place(node: Node | null, path: ConfigPath): RulePlace {
    const { line, column } = node?.range ? locationAt(this.#lines, node.range[0]) : { line: 1, column: 1 };
    return { file: this.#file, line, column, path: formatPath(path) };
  }
}

type Fields = ReadonlyMap<string, Field>;

interface Field {
  readonly key: Node;
  readonly value: Node | null;
  /** True = of a mapping behind `<<`, which own keys replace. */
  readonly isMerged: boolean;
}

/** Most mappings within mappings behind `<<`. */
const MERGES_MAX = 8;

/** The wire has 32 bits for it. */
const COUNT_MAX = 4_294_967_295;

const TRUE: ReadonlySet<string> = new Set(['true', 'yes', 'on', 'y']);
const FALSE: ReadonlySet<string> = new Set(['false', 'no', 'off', 'n']);

const PLACES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ROOT_KEYS.map((key) => [key, 'it belongs to the file'])),
  ...Object.fromEntries(DESCRIPTOR_KEYS.map((key) => [key, 'it belongs to a descriptor, beside key'])),
  ...Object.fromEntries(LIMIT_KEYS.map((key) => [key, 'it belongs below rate_limit'])),
};

/** Reads a plain scalar as YAML does: a number, a truth, else its text. */
function scalarIn({ value, type }: Scalar): unknown {
  const text = String(value);
  if (type !== 'PLAIN') return text;
  if (/^(true|false)$/.test(text)) return text === 'true';
  return /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text) ? Number(text) : text;
}

/** Tests for no value: nothing behind the colon, `~` or null. */
function isNothing(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.type === 'PLAIN' && /^(|~|null)$/i.test(String(node.value ?? '')));
}
