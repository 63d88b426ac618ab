/** The last part of docs/reference/scenarios.md: scenarios of backends, from the field tables of sim/target. */
export function targetScenarioSection(fields, fieldTable) {
  return [
    '## Scenarios of backends',
    INTRODUCTION,
    fieldTable(fields.TARGET_SCENARIO_FIELDS),
    'Beside them stand `limiting`, as in node.yaml (docs/reference/settings.md), and the lists `backends`, `groups`, `clients` and `phases`.',
    '### Entries of `backends`',
    fieldTable(fields.BACKEND_FIELDS),
    '### Entries of `groups`',
    fieldTable(fields.TARGET_GROUP_FIELDS),
    '### Entries of `clients`',
    CLIENTS,
    fieldTable(fields.CLIENT_FIELDS),
    '### Entries of `phases`',
    PHASES,
    fieldTable(fields.PHASE_FIELDS),
    'Entries of its `backends`:',
    fieldTable(fields.CAPACITY_FIELDS),
    'Entries of its `expect`:',
    fieldTable(fields.EXPECTED_FIELDS),
    EXPECTED,
  ];
}

const INTRODUCTION = `A scenario with the key \`backends\` is of another kind: mock backends that saturate, groups with quotas by cost, and
clients that wear the backends down (docs/guide/target-rate.md says what the target stage does with it). \`quotamesh sim run\` plays it on the
production core, and prints targets, what was admitted, and the fullest queue.

\`\`\`yaml
# yaml-language-server: $schema=schema/target-scenario.schema.json
name: my-databases
says: Three databases in three zones; two lose nine tenths of what they can do.
limiting: { zonesLeftOut: 1 }
backends:
  - { name: db, count: 3, capacityPerSecond: 100 }     # db-1, db-2, db-3
groups:
  - { name: orders, costPerSecond: 200, reservedCostPerSecond: 30 }
  - { name: reports, costPerSecond: 100 }
clients:
  - { group: orders, count: 2, wantedPerSecond: 10, readBytes: 24Ki }
  - { group: reports, wantedPerSecond: 5, units: 12, backends: [db-2, db-3] }
phases:
  - forSeconds: 30
  - backends: [{ name: db-2, capacityPerSecond: 10 }, { name: db-3, capacityPerSecond: 10 }]
    forSeconds: 60
    expect:
      - { what: busyGroups, value: 2, within: 0 }
\`\`\`

    quotamesh sim run my-databases.yaml
    quotamesh sim run gtt/IgnoreWorstZone --strategy client-rate --json

The queue of a backend is modelled: its level is what it is asked for ÷ \`capacityPerSecond\` × \`target\`, followed with \`followsMs\`. One node reads
all levels once a second. \`sim compare\`, \`sim live\`, \`--seconds\` and \`--html\` do not know scenarios of backends.`;

const CLIENTS = `Each client is a node of its own with one piece of work at a time, as those of FoundationDB are; at
most 200. Its share paces it, and where its limiter has no token it comes back 20 ms later. Bytes become units by the default \`costs.*\`.`;

const PHASES = `Phases follow each other. \`groups\` (the same entries as above; a quota that is left out is unlimited from then on) and \`backends\` change when
the phase begins; \`expect\` is looked at every second.`;

const EXPECTED = `\`target\` is the rate in force of a group, messages/s; \`targetSum\` that of all groups that have a quota; \`perClient\` the largest share of a client that is
trimmed, or the target where nobody is; \`busyGroups\` how many groups saturated backends hold down. The exit code is 1 where something did not
hold within \`settleWithinSeconds\`.`;
