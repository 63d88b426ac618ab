import { GENERATED } from './markdown.mjs';
import { targetScenarioSection } from './target-scenarios.mjs';

/** docs/reference/scenarios.md from the field tables of sim/scenario and the metrics of sim/verdict. */
export function renderScenarios({ fields, LOAD_KINDS, HAPPENING_KINDS, METRICS, targetFields }) {
  const { SCENARIO_FIELDS, QUOTA_FIELDS, NETWORK_FIELDS } = fields;
  return [
    GENERATED,
    INTRODUCTION,
    '## Outermost keys',
    fieldTable(SCENARIO_FIELDS),
    'Beside them stand the mappings `quota`, `network`, `group`, `timing` and `expect`, and the lists `load` and `happenings`.',
    '## `quota`',
    fieldTable(QUOTA_FIELDS),
    '## `network`',
    fieldTable(NETWORK_FIELDS),
    GROUP_AND_TIMING,
    '## `load`',
    LOADS,
    ...kindSections('kind', LOAD_KINDS),
    '## `happenings`',
    HAPPENINGS,
    ...kindSections('what', HAPPENING_KINDS),
    '## `expect` and the verdict',
    EXPECT,
    METRICS.map(({ name, says, format }) => `- \`${name}\` (${UNITS[format]}): ${says}`).join('\n'),
    VERDICT,
    ...targetScenarioSection(targetFields, fieldTable),
    '',
  ].join('\n\n');
}

const UNITS = {
  percent: 'a ratio: 0.01 is 1 %',
  ratio: 'a ratio',
  seconds: 'seconds',
  milliseconds: 'milliseconds',
  tokens: 'units',
  count: 'a count',
};

function fieldTable(fields) {
  return Object.entries(fields).map(fieldLine).join('\n');
}

function fieldLine([key, { allowed, defaultText, says }]) {
  const value = allowed
    .replace(/ \(e\.g\. .*\)$/, '')
    .replace(/^a name of 1 to \d+ letters, .* letter or digit$/, 'a name')
    .replace(/^a text that is not empty$/, 'a text')
    .replace(/^a (?:whole number|number|ratio|duration|size in bytes|level) between (\S+) and /, '$1 to ');
  const standard = defaultText === '(required)' ? 'needed' : `default ${defaultText}`;
  return `- \`${key}\` (${value}; ${standard}): ${says}`;
}

/** A section for each kind; what more than half of the kinds have stands once, before them. */
function kindSections(key, kinds) {
  const entries = Object.entries(kinds).map(([name, { says, fields }]) => ({
    name,
    says,
    lines: Object.entries(fields).map(fieldLine),
  }));
  const counts = new Map();
  for (const line of entries.flatMap(({ lines }) => lines)) counts.set(line, (counts.get(line) ?? 0) + 1);
  const common = [...counts].filter(([, count]) => count > entries.length / 2).map(([line]) => line);
  return [
    'Kinds have these, unless they say otherwise:',
    common.join('\n'),
    ...entries.flatMap(({ name, says, lines }) => {
      const own = lines.filter((line) => !common.includes(line));
      const without = common.filter((line) => !lines.includes(line)).map((line) => line.match(/`\w+`/)[0]);
      const lacks = without.length === 0 ? '' : ` Without ${without.join(', ')}.`;
      return [`### \`${key}: ${name}\``, `${says}${lacks}`, ...(own.length === 0 ? [] : [own.join('\n')])];
    }),
  ];
}

const INTRODUCTION = `# Scenarios

A scenario is a YAML file: so many nodes, a quota, a load, what happens to them, and what is expected. The simulator
plays it in virtual time on the production core, or on another system, and judges the result. The same file, system
and seed give the same bytes. All systems see the same arrivals. \`quotamesh sim list\` tells
which are built in.

\`\`\`yaml
# yaml-language-server: $schema=schema/scenario.schema.json
name: my-scenario
says: A node dies while another one becomes hot.
durationSeconds: 60
nodes: 3                                  # n1, n2, n3
quota: { messagesPerSecond: 1000 }
load:
  - { kind: poisson, ratePerSecond: 300 }
  - { kind: poisson, nodes: n2, ratePerSecond: 2000, fromSeconds: 20 }
happenings:
  - { atSeconds: 30, what: crash, nodes: n1, forSeconds: 15 }
expect:
  max-min: { worstSecond: { atMost: 1.1 }, utilisation: { atLeast: 0.97 } }
\`\`\`

    quotamesh sim run my-scenario.yaml
    quotamesh sim compare my-scenario.yaml --seeds 3

Every mistake is reported at once, with its line. Exit codes: 0 all that is expected came true · 1 something did not ·
2 wrong use · 78 the scenario has mistakes. Quantities take units as in docs/reference/settings.md (\`10k\`, \`1MiB\`, \`25%\`);
keys that end in \`Seconds\` are plain numbers.`;

const GROUP_AND_TIMING = `## \`group\` and \`timing\`

As in node.yaml (docs/reference/settings.md): \`group\` takes what stands below \`defaults:\` but quota, strategy, promise and
maxRequest; \`timing\` takes what stands below \`timing:\`. Only quotamesh reads them. The strategy is chosen on the
command line.`;

const LOADS = `A list; what several entries bring to a node adds up. Rates are pieces of work per second and node.
Work is refused where no process runs; a piece that is refused is gone, unless it has \`retries\`. Arrivals depend on the seed
and the entry alone, not on what becomes of them; only clients wait for their answers.`;

const HAPPENINGS = `A list, in any order. Whoever is cut off loses the topic or store and the other nodes; work still arrives there.`;

const EXPECT = `Bounds per system, by its name in \`quotamesh sim list\`: \`{ atMost: 1.1 }\`, \`{ atLeast: 0.99 }\` or both. A metric
that cannot be told, or a convergence that never comes, keeps no bound.`;

const VERDICT = `**Fair** is what an all-knowing judge gives: max-min over the rates that the scenario says, of the
nodes that can serve at the moment; with quotas of messages and bytes both are filled in turns. It is computed apart
from the core.

**Steady** is everything but \`settleSeconds\` after a step, and faults that cut, freeze or take the topic away, with
\`settleSeconds\` after them. A step is a moment at which the fair shares move by more than 5 % of the quota, or at which
a fault ends.

**Settled** is Σ |min(limit, wanted) − fair| ÷ quota ≤ 5 % for 5 s, or until the next step or fault.`;
