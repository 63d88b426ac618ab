import fc from 'fast-check';
import { stringify } from 'yaml';
import { SECTIONS, SETTINGS, yamlPath } from '../../src/config/schema/all-settings.js';
import type { Setting, SettingKind } from '../../src/config/setting/setting.js';

/** Words, values and texts that look like what quotamesh reads, and mostly are not quite it. */

/** Every name that the settings table knows, in parts. */
const SETTING_WORDS = SECTIONS.flatMap((section) =>
  Object.keys(section.rows).flatMap((key) => yamlPath(section, key).split('.')),
);
const ASKED_WORDS = [
  'group',
  'messages',
  'bytes',
  'tenant',
  'namespace',
  'topic',
  'client',
  'direction',
  'retry',
  'atMost',
  'all',
  'waitMs',
  'id',
  'used',
  'dropped',
  'costs',
  'units',
  'backend',
  'zone',
  'level',
  'target',
  'spring',
  'throttlingRatio',
  'sameAs',
  'exempt',
  'andBroader',
  'publishRateInMsgs',
  'dispatchRateInBytes',
  'PublishRateLimitInMsgs',
  'readBytes',
];

/** Few, so that what is made of them meets again: a group is made, attached, changed and deleted. */
export const groupName = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('orders', 'free', 'slow', 'fuzz-1', 'fuzz-2', 'fuzz-3') },
  { weight: 1, arbitrary: fc.constantFrom('', '..', '__proto__', 'toString', 'x'.repeat(201), 'ä ö', 'a/b', '\u0000') },
);
export const placePath = fc.constantFrom('acme', 'acme/eu', 'acme/eu/orders', 'other', 'other/x', '/', 'a//b', '');

export const leaf = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      0,
      1,
      7,
      -1,
      -0,
      0.5,
      2 ** 31,
      2 ** 53,
      2 ** 53 + 2,
      1e308,
      5e-324,
      Number.MAX_SAFE_INTEGER,
      '10k',
      '-1',
      '1e999',
      '25%',
      '1MiB',
      '5/s',
      '1s',
      '',
      'publish',
      'dispatch',
      'both',
      null,
      true,
      false,
      'max-min',
      'equal',
      'fair',
      'hold',
      'embedded',
      'memory',
      'linear',
    ),
  },
  { weight: 1, arbitrary: groupName },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);

const key = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...SETTING_WORDS, ...ASKED_WORDS) },
  { weight: 1, arbitrary: fc.oneof(fc.constantFrom('__proto__', 'constructor', ''), fc.string({ maxLength: 8 })) },
);

export const tree = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaf,
    fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
    fc.array(tie('tree'), { maxLength: 3 }),
  ),
})).tree;

/** Some that are taken by most settings of the kind. */
const VALUES: Readonly<Partial<Record<SettingKind, readonly unknown[]>>> = {
  rate: [0, 5, '10k', 1e9, null],
  'byte-rate': [0, 700, '1MiB', null],
  count: [1, 20, '1k'],
  bytes: [1, '16KiB'],
  duration: ['100ms', '1s', 5000],
  ratio: [0, 0.25, '25%', 1],
  factor: [1, 2.5],
  switch: [true, false],
  weights: [{ a: 2 }, { a: 1, b: 0.5 }, null],
};

/** A few keys of a group, in their places, most with a value of the right kind. */
export const groupDefinition = fc
  .array(fc.oneof(...Object.entries(SETTINGS.group.rows).map(([path, setting]) => entryOf(path, setting))), {
    maxLength: 3,
  })
  .map((entries) => nested(entries));

export const attachmentDefinition = fc.oneof(
  fc.record({ group: groupName, sameAs: placePath, exempt: fc.boolean(), andBroader: leaf }, { requiredKeys: [] }),
  tree,
);

/** YAML of a node, with a damaged character or none. */
export const yamlText = fc
  .record({
    head: fc.record({ cluster: fc.oneof(fc.constant('fuzz'), groupName), topic: rarely('memory', tree) }),
    defaults: rarely({}, groupDefinition),
    groups: fc.dictionary(
      groupName,
      fc.oneof({ weight: 9, arbitrary: groupDefinition }, { weight: 1, arbitrary: leaf }),
      {
        maxKeys: 3,
      },
    ),
    other: rarely(
      {},
      fc.dictionary(fc.constantFrom('http', 'timing', 'attachments', 'limits', 'mqtt', 'backends', 'log'), tree, {
        maxKeys: 2,
      }),
    ),
    damage: damaging(),
  })
  .map(({ head, defaults, groups, other, damage }) =>
    damage(stringify({ ...head, defaults, groups, ...other }, { aliasDuplicateObjects: false })),
  );

export type Damage = (text: string) => string;

/** Half of the texts stay whole; of the others one character goes, doubles or becomes another. */
export function damaging(): fc.Arbitrary<Damage> {
  const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
  const put = fc.constantFrom(
    '',
    '{',
    '}',
    '[',
    '"',
    "'",
    ':',
    ',',
    '\n',
    '\t',
    '&a ',
    '*a',
    '%',
    '\u0000',
    '\\',
    '\r',
    '- ',
  );
  return fc.oneof(
    fc.constant<Damage>((text) => text),
    fc.tuple(place, fc.nat({ max: 3 }), put).map(([at, cut, inserted]): Damage => {
      return (text) => {
        const from = Math.floor(at * (text.length + 1));
        return text.slice(0, from) + inserted + text.slice(from + cut);
      };
    }),
  );
}

function rarely<T>(usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
}

function entryOf(path: string, setting: Setting): fc.Arbitrary<readonly [string, unknown]> {
  const { kind, choices, default: usual } = setting;
  const right = choices ?? VALUES[kind] ?? [usual, null];
  const value = fc.oneof({ weight: 9, arbitrary: fc.constantFrom<unknown>(...right) }, { weight: 1, arbitrary: leaf });
  return value.map((chosen) => [path, chosen]);
}

function nested(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const [path, value] of entries) {
    const parts = path.split('.');
    const last = parts.pop() as string;
    let at = root;
    for (const part of parts) {
      if (typeof at[part] !== 'object' || at[part] === null) at[part] = {};
      at = at[part] as Record<string, unknown>;
    }
    at[last] = value;
  }
  return root;
}
