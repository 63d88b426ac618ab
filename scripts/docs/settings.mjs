import { GENERATED, table } from './markdown.mjs';

/** docs/reference/settings.md from the settings table (src/config/schema/all-settings.ts), the relations and the foreign keys. */
export function renderSettings(source) {
  const { SECTIONS, POLLED_BACKENDS, RELATIONS, FOREIGN_KEYS } = source;
  return [
    GENERATED,
    INTRODUCTION,
    ...[...SECTIONS, POLLED_BACKENDS].map((section) => renderSection(section, source)),
    INHERITANCE,
    renderRelations(RELATIONS, source),
    renderConstants(source),
    renderForeignKeys(FOREIGN_KEYS),
  ].join('\n\n');
}

const INTRODUCTION = `# Settings

A node reads one YAML file. \`quotamesh check FILE\` validates it and prints every mistake at once, each with its
line, what is allowed and what to do. The smallest useful file:

\`\`\`yaml
cluster: demo
topic: { kind: embedded, path: ./state }
groups:
  orders:
    quota: { publish: { messagesPerSecond: 1000, bytesPerSecond: 1MiB } }
\`\`\`

- **Units.** The unit is in the name of the key; a number means that unit, a text may carry another one: durations
  \`500ms\`, \`1s\`, \`2m\`, \`1h\`, \`7d\`; numbers and rates \`10k\` (k = 1,000; M, G, T, P) or \`10Ki\`
  (Ki = 1,024; Mi, Gi, Ti, Pi); bytes the same with \`B\` where you like: \`1MB\` = 1,000,000, \`1MiB\` = 1,048,576;
  rates also with \`/s\`, \`/min\`, \`/h\` or \`/d\`, or the word (\`600/min\`, \`1MiB/hour\`), and \`/week\`, \`/month\` (30
  days), \`/year\` (365); ratios \`0.25\` or \`25%\`.
- **Rates** of quotas and limits are enforced per second and shown as they were written: \`messagesPerSecond: 5/min\`, or \`messagesPerMinute: 5\`
  is 5/60 per second.
- **Precedence.** Flag (\`--node\`, \`--http\`) > environment > file > default.
- **Environment.** \`QUOTAMESH_\` and the path in capitals: \`timing.stalenessMs\` is \`QUOTAMESH_TIMING_STALENESS_MS\`,
  and what a group inherits is \`QUOTAMESH_DEFAULTS_…\`. Single groups, keys, rules and backends have no variables. Lists
  are separated by commas. An empty variable counts as not set. An unknown \`QUOTAMESH_…\` variable is an error, except
  for those that Kubernetes makes for a Service named \`quotamesh…\`. \`QUOTAMESH_TOPIC_KIND\` with another kind than the
  file's replaces the file's whole \`topic\`.
- **Names** begin with a letter or digit and have letters, digits and \`. _ : -\`; those of groups also \`/ @ + ~\`.
- *Buys* says what setting it, or turning it up, is good for; ″ in *Costs* is the same as above. \`{publish,dispatch}\` in a key is either.
- **Texts in files.** A secret or certificate may stand in a file of its own: \`password: { file: ./password }\`, or
  \`QUOTAMESH_TOPIC_SASL_PASSWORD_FILE=./password\`; at most 64 KiB, and relative paths start at the configuration file.
  One line break at its end is no part of it. Those of listeners are read again when they change. Secrets are never
  printed.
- **YAML.** Version 1.2, one document, at most 8 MiB. Each key once. Anchors and aliases work (an anchor may be used
  999 times); merge keys (\`<<\`) do not: \`defaults:\` is there for that. A key with nothing or \`null\` behind
  it means the default; a quota or another limit, and what leads to it, must say \`null\`.
- **Editors** with a YAML language server read \`schema/node.schema.json\` (the examples name it in their first line).`;

const INHERITANCE = `## How \`defaults:\` inherits

Every group inherits every single key from \`defaults:\`, however deep it stands: a group that sets
\`quota.publish.messagesPerSecond\` still inherits \`quota.publish.bytesPerSecond\`. \`weights\` are inherited node by
node. \`null\` takes an inherited value away, and the default of the table holds again, for a quota: unlimited.
\`null\` for a mapping takes everything below it away. 0 is a value: as a quota it blocks.

\`\`\`yaml
defaults:
  quota: { publish: { messagesPerSecond: 100, bytesPerSecond: 1MiB } }
groups:
  one: {}                                                       # 100 messages/s and 1 MiB/s
  two: { quota: { publish: { messagesPerSecond: 500 } } }       # 500 messages/s and 1 MiB/s
  three: { quota: { publish: { bytesPerSecond: null } } }       # 100 messages/s, bytes unlimited
  four: { quota: null }                                         # unlimited
  five: { quota: { publish: { messagesPerSecond: '5/min' } } }        # 5 messages/min and 1 MiB/s
\`\`\`

Lists, choices and numbers are not merged: the group's wins.`;

const NOTES = {
  Group: 'Below `groups.<name>`, or below `defaults` for all groups.',
  Topic: '`topic: embedded` and `topic: memory` are short for `topic: { kind: … }`. Without `topic`: embedded.',
};

/** One line for each definition: the same at several places stands there once. */
function renderSection(section, { yamlPath, allowedText, defaultText }) {
  const placesOf = new Map();
  for (const [key, setting] of Object.entries(section.rows)) {
    const place = section.title === 'Group' ? key : yamlPath(section, key);
    placesOf.set(setting, [...(placesOf.get(setting) ?? []), place]);
  }
  const rows = [...placesOf].map(([setting, places], at, all) => [
    joined(places),
    shortened(allowedText(setting)),
    setting.required ? '(required)' : defaultText(setting),
    setting.buys,
    setting.costs === all[at - 1]?.[0].costs ? '″' : setting.costs,
    setting.missedBy,
  ]);
  const head = ['Key', 'Value', 'Default', 'Buys', 'Costs', 'Missed by'];
  const note = NOTES[section.title];
  return [`## ${section.title}`, ...(note ? [note] : []), table(head, rows)].join('\n\n');
}

/** `quota.{publish,dispatch}.messagesPerSecond`: what differs in one part is written once. */
function joined(places) {
  const patterns = [];
  for (const parts of places.map((place) => place.split('.').map((part) => [part]))) patterns.push(parts);
  for (let one = 0; one < patterns.length; one++) {
    for (let other = one + 1; other < patterns.length; other++) {
      const [a, b] = [patterns[one], patterns[other]];
      const differ = a.flatMap((part, at) => (String(part) === String(b[at]) ? [] : [at]));
      if (a.length !== b.length || differ.length !== 1) continue;
      a[differ[0]].push(...b[differ[0]]);
      patterns.splice(other, 1);
      one = -1;
      break;
    }
  }
  const text = (part) => (part.length === 1 ? part[0] : `{${part.join(',')}}`);
  return patterns.map((parts) => `\`${parts.map(text).join('.')}\``).join(', ');
}

/** A value in few words: the unit stands in the key, and what a name is in the introduction. */
function shortened(text) {
  return text
    .replace(/ \(e\.g\. .*\)$/, '')
    .replace(/^a text that is not empty(, or \{ file: PATH \})?$/, (_, file = '') => `a text${file}`)
    .replace(/^a (?:duration|size in bytes|whole number|ratio) between (\S+) and /, '$1 to ')
    .replace(/^a name of 1 to (\d+) letters, .* letter or digit$/, 'a name, at most $1')
    .replace(/^one of /, '');
}

function renderRelations(relations, { boundText }) {
  const rows = relations.map((relation) => [`\`${relation.left}\``, boundText(relation), relation.because]);
  return `## What must hold between settings\n\n${table(['Setting', 'must be', 'otherwise'], rows)}`;
}

/** Lists the constants that messages and documents name. */
function renderConstants({ CONSTANTS, SETTINGS, formatQuantity }) {
  const text = (key, value) =>
    formatQuantity(key.endsWith('Ms') ? 'duration' : key.endsWith('Bytes') ? 'bytes' : 'count', value);
  const sections = Object.entries(CONSTANTS).filter(([, values]) => Object.keys(values).length > 0);
  const shown = sections.map(([section, values]) => {
    const given = Object.entries(values).map(([key, value]) => `\`${key}\` ${text(key, value)}`);
    return `- ${SETTINGS[section]?.path === 'topic' ? `a topic of kind ${section}` : `\`${section}\``}: ${given.join(', ')}`;
  });
  return `## What no setting changes

Some bounds and times that messages and documents name are the same at every node, each for a reason that stands in
src/config/resolved/constants.ts. Some follow from settings: \`timing.shareValidMs\` is four fifths of
\`timing.stalenessMs\`, \`timing.isolationAfterMs\` three fifths of it or two heartbeats, \`timing.forgetAfterMs\` 10
minutes or twice \`timing.stalenessMs\`, \`timing.partitionHeartbeatMs\` 5 seconds or \`timing.heartbeatMs\`,
whichever is more, and \`timing.fastSpanMs\` two and a half \`sampleIntervalMs\`.

${shown.map(filled).join('\n')}`;
}

/** Breaks an item of a list into lines of 120 characters. */
function filled(item) {
  const lines = [''];
  for (const word of item.split(' ')) {
    const line = lines.at(-1);
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= 120) lines[lines.length - 1] += ` ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines.join('\n');
}

function renderForeignKeys(foreignKeys) {
  const rows = foreignKeys.map(({ key, from, ours, explanation }) => [
    `\`${key}\``,
    from,
    ours.replaceAll(/[\w.]+/g, '`$&`'),
    explanation,
  ]);
  return `## Coming from PIP-82 or Pulsar

PIP-82 ("Tenant and namespace level rate limiting") names three keys of its own; Pulsar shipped the feature under
other names.

${table(['There', 'From', 'Here', 'What is different'], rows)}
`;
}
