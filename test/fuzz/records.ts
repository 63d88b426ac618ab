import fc from 'fast-check';
import type { AppendRecord } from '../../src/base/ports/report-topic.js';
import { clusterHashOf } from '../../src/core/base/ids.js';
import {
  attachmentName,
  keyOf,
  type RegistryRecord,
  registryKeys,
} from '../../src/core/beside/registry/registry-record.js';
import { RegistryCodec } from '../../src/topic/codec/registry-codec.js';
import { attachmentDefinition, groupDefinition, groupName, leaf, placePath, tree } from './grammar.js';

const place = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 300 }) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 0.5, Number.MAX_SAFE_INTEGER, 2 ** 53, null, '7') },
);
const name = fc.oneof(
  groupName,
  placePath.filter((path) => path !== '').map(attachmentName),
  fc.constantFrom('/attachment/', '/attachment/tenant', '/attachment/tenant/', '/attachment//', '/'),
);
const author = fc.constantFrom('a', 'b', 'c', '', '__proto__', 'x'.repeat(2000));
const definition = fc.oneof(fc.constant(null), groupDefinition, attachmentDefinition, tree);
const id = fc.oneof(fc.nat({ max: 200 }).map(String), fc.constantFrom('', '/', 'x'.repeat(1025)));

const entries = fc.array(fc.record({ group: name, expected: place, definition }));

const record = fc.oneof(
  fc.record({ kind: fc.constant('batch-part'), id, author, part: place, entries }),
  fc.record({ kind: fc.constant('batch'), id, author, parts: place, entries, by: fc.constant(null) }),
  fc.record({ kind: fc.constant('verdict'), id, author, isAccepted: fc.boolean() }),
  fc.record({ kind: fc.constant('proposal'), id, author, group: name, expected: place, definition }),
  fc.record({
    kind: fc.constant('state'),
    author,
    group: name,
    asOf: place,
    shift: place,
    revision: place,
    definition,
  }),
  fc.record({ kind: fc.constant('epoch'), author, id, base: place, at: place }),
  fc.record({ kind: fc.constant('barrier'), author, id }),
  fc.record({
    kind: fc.constant('yaml'),
    author,
    version: fc.constantFrom('0', '1'),
    part: place,
    groups: fc.dictionary(groupName, fc.constantFrom('1', '2'), { maxKeys: 3 }),
  }),
  fc.record({ kind: leaf, author, group: name, definition }),
);

/** What a broken or hostile writer may append: records of all kinds, most under their key, some damaged, some buried. */
export function registryRecords(cluster: string): fc.Arbitrary<AppendRecord> {
  const codec = new RegistryCodec(cluster);
  const keys = registryKeys(clusterHashOf(cluster));
  const fate = fc.oneof(
    { weight: 12, arbitrary: fc.constant('whole') },
    { weight: 2, arbitrary: fc.constant('buried') },
    { weight: 1, arbitrary: fc.constant('elsewhere') },
    { weight: 1, arbitrary: fc.nat({ max: 40 }) },
  );
  return fc.tuple(record, fate).map(([written, fate]): AppendRecord => {
    const key = fate === 'elsewhere' ? 'elsewhere' : (keyOf(keys, written as RegistryRecord) ?? 'of no kind');
    if (fate === 'buried') return { partition: 0, key, value: null };
    const value = codec.encode(written as RegistryRecord);
    if (typeof fate === 'number') value[fate % value.length] = (value[fate % value.length] ?? 0) ^ 0x41;
    return { partition: 0, key, value };
  });
}
