import { GENERATED, textOfCell } from './markdown.mjs';

/**
 * docs/reference/commands.md from the commands themselves (createProgram of src/tools/cli/program.ts) and the scripts of
 * package.json.
 */
export function renderCommands({ createProgram, nodeCommand, npmScripts }) {
  const program = createProgram();
  const shared = nodeCommand('any', '').options.map((option) => option.flags);
  const leaves = program.commands.flatMap((command) => leavesOf(command, ''));
  return [
    GENERATED,
    INTRODUCTION,
    leaves.map(({ path }) => `[\`${path}\`](#${anchorOf(path)})`).join(' · '),
    `\`\`\`text\n${textBehind(program).trim()}\n\`\`\``,
    '## Commands that ask a node',
    `${leaves
      .filter(({ command }) => asks(command, shared))
      .map(({ path }) => `\`${path}\``)
      .join(', ')} take these options, too:`,
    optionList(nodeCommand('any', '').options),
    ...program.commands.flatMap((command) => sectionsOf(command, '', shared)),
    '## In a clone',
    scriptRows(npmScripts)
      .map(([call, says]) => `- ${call}: ${says}`)
      .join('\n'),
    '',
  ].join('\n\n');
}

const INTRODUCTION = `# Commands

\`quotamesh COMMAND --help\` prints what this page says of a command, and its exit codes.
\`--json\` prints JSON instead of text.`;

/** First word of a command → the pages that explain what it is for. */
const PAGES = {
  run: ['../operate/deployment.md'],
  mqtt: ['../guide/mqtt.md'],
  'kafka-quotas': ['../guide/kafka-quotas.md'],
  group: ['../operate/administration.md'],
  quota: ['../operate/administration.md'],
  audit: ['../operate/administration.md'],
  token: ['../operate/access.md'],
  sim: ['scenarios.md', '../guide/replay.md', '../guide/live-runs.md'],
  record: ['../guide/replay.md'],
};

function morePages(path) {
  const pages = PAGES[path.split(' ')[0]] ?? [];
  return pages.length === 0 ? [] : [`More: ${pages.map((page) => `[${page.split('/').at(-1)}](${page})`).join(', ')}.`];
}

/** The commands that do something: `group set`, not `group`. */
function leavesOf(command, before) {
  const path = `${before} ${command.name()}`.trim();
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((each) => leavesOf(each, path));
}

/** A section for each leaf; what --help says behind all commands of a family stands once, at its end. */
function sectionsOf(command, before, shared) {
  const path = `${before} ${command.name()}`.trim();
  const leaves = leavesOf(command, before);
  const behind = new Map(leaves.map((leaf) => [leaf.path, textBehind(leaf.command)]));
  const family = command.commands.length === 0 ? '' : withoutExitCodes(textBehind(command));
  const sections = leaves.flatMap((leaf) => {
    const own = withoutExitCodes(behind.get(leaf.path));
    return leafSection(leaf, shared, own === family ? '' : own);
  });
  if (family === '') return sections;
  return [...sections, `### Examples of \`${path}\``, `\`\`\`text\n${family}\n\`\`\``];
}

function leafSection({ path, command }, shared, behind) {
  const ofNode = command.options.filter(({ flags }) => shared.includes(flags));
  const own = command.options.filter((option) => !ofNode.includes(option));
  const asksNode = asks(command, shared);
  const usage = `quotamesh ${path} ${command.usage()}`.trim();
  return [
    `## \`${path}\``,
    `${command.description()}\n\n\`${usage}\``,
    ...morePages(path),
    ...argumentsOf(command),
    ...((asksNode ? own : command.options).length === 0 ? [] : [optionList(asksNode ? own : command.options)]),
    ...(behind === '' ? [] : [`\`\`\`text\n${behind}\n\`\`\``]),
  ];
}

function asks(command, shared) {
  return shared.every((flags) => command.options.some((option) => option.flags === flags));
}

function argumentsOf({ registeredArguments }) {
  if (registeredArguments.length === 0) return [];
  return [registeredArguments.map((each) => itemOf(each.name(), each.description, choicesOf(each))).join('\n')];
}

function optionList(options) {
  const items = options.map((option) => {
    const standard =
      option.defaultValue === undefined ? '' : `default \`${option.defaultValueDescription ?? option.defaultValue}\``;
    const meaning = PLAIN_JSON.test(option.description) ? '' : option.description;
    return itemOf(option.flags, meaning, option.mandatory ? 'needed' : '', choicesOf(option), standard);
  });
  return items.join('\n');
}

/** Matches what the introduction says once for all commands. */
const PLAIN_JSON = /^JSON instead of (text|a table)$/;

/** - `name`: what it means (fact; fact) */
function itemOf(name, meaning, ...facts) {
  const said = facts.filter((fact) => fact !== '');
  const text = `${meaning}${said.length === 0 ? '' : ` (${said.join('; ')})`}`;
  return text === '' ? `- \`${name}\`` : `- \`${name}\`: ${textOfCell(text)}`;
}

function choicesOf({ argChoices = [] }) {
  return argChoices.map((choice) => `\`${choice}\``).join(', ');
}

/** What --help prints behind the options: explanations, examples, exit codes. */
function textBehind(command) {
  let whole = '';
  command.configureOutput({
    writeOut: (text) => {
      whole += text;
    },
  });
  command.outputHelp();
  return whole.slice(command.helpInformation().length).trim();
}

/** Leaves out what a command's --help says of its own exit codes: the top of the page says what they mean for all. */
function withoutExitCodes(text) {
  return text.replace(/\n*Exit codes: [\s\S]*?(?=\n\n|$)/, '').trim();
}

/** As GitHub makes it of a heading. */
function anchorOf(path) {
  return path.replaceAll(' ', '-');
}

/** What a script of package.json does, and how it is called; a script without a text is refused. */
const SCRIPTS = {
  start: [
    '[-- --for 20s]',
    'the demonstration: a story in acts, or a trace for so long; exit code 0 only if all is good',
  ],
  test: ['[-- NAME…]', 'all tests, or [some](../contribute/run-one-test.md)'],
  'test:long': ['', 'soaks and long outages'],
  build: ['', 'makes `dist/` anew'],
  'build:pulsar': ['', 'makes and tests the plugin for Pulsar’s brokers, by Maven ([pulsar.md](../guide/pulsar.md))'],
  check: ['', 'types, lint, generated documents, tests'],
  docs: ['[-- --check]', 'writes the generated documents and schemas'],
  sbom: ['', 'prints what an install brings, as CycloneDX'],
  site: ['[-- --preview, --base PATH]', 'builds the documentation as a site, in `site/dist`; a dead link is a mistake'],
  format: ['', 'formatting and lint, mended in place'],
  figures: ['', 'what every benchmark prints, in one run at a commit, as the page `measured.md`; then accuracy.md'],
  accuracy: ['[-- --check]', 'every scenario on every system: [accuracy.md](accuracy.md)'],
  'accuracy:live': [
    '[-- --kafka --tokens]',
    'simulator and real processes side by side, for accuracy.md; tokens: a table',
  ],
  'page:figures': [
    '[-- shop, large]',
    'size, layout shift, contrast and pauses of the live page, and what ten of them cost a node of 100 with 10,000 groups',
  ],
  'page:pictures': [
    '[-- FOLDER]',
    'the pictures of the [live page](../guide/live-page.md); into a folder all views, light, dark and on a phone',
  ],
  mutants: [
    '-- src/core/account/share [--sample 40], -- --mends [--seeds 2000]',
    'changes one place of the source at a time and lists what no test notices; takes out one mend at a time and plays the swarm ([figures.md](figures.md#mutants))',
  ],
  chaos: [
    '-- --seed 1 --minutes 30',
    'five nodes on three real brokers, broken by a seeded schedule ([chaos.md](../contribute/chaos.md))',
  ],
  'bench:limiter': ['', 'what a decision costs in one process'],
  'bench:cluster': ['[-- kafka]', 'real processes on both topics, from a change of demand to fitting shares'],
  'bench:access': ['', 'what tokens and roles cost a request'],
  'bench:mqtt': ['', 'messages per second through the MQTT broker'],
  'bench:envoy': [
    '[-- rounds]',
    'requests through Envoy without a limit, with quotas that a node assigns, asking a node, and asking ratelimit and Redis',
  ],
  'bench:pulsar': [
    '[-- moves 10 | moves 60 | costs [SECONDS]]',
    'real Pulsar brokers: their own resource groups and ours, and what the plugin costs',
  ],
  'bench:convergence': ['', 'how long the shares of 10,000 groups take'],
  'bench:scale': ['', '100 nodes with 100,000 groups'],
  'bench:contended': ['', 'what reports cost where 5,000 groups are short on every node'],
  'bench:rows': ['', 'what rows of their own for changes would save'],
  'bench:idle': ['[-- --enforcer]', 'a node at rest, alone or beside a data plane at rest'],
  'bench:http': ['', 'CPU of POST /v1/acquire beside a bare route, over TCP and a Unix socket'],
  'bench:registry': ['', '10,000 groups made while nodes run'],
  'bench:reload': ['[-- GROUPS]', 'requests beside hot reloads of YAML'],
  'bench:services': ['[-- ROUNDS]', 'what middlewares and stores cost a request, beside memory stores'],
  'bench:stores': [
    '[-- ROUNDS]',
    'one quota on two processes, beside `rate-limiter-flexible` and `@fastify/rate-limit` with a Redis',
  ],
  'bench:deploys': [
    '[-- --minutes 30 --only NAME,… --page]',
    'three Express instances through deploys, a kill and a freeze, beside `express-rate-limit` with a Redis; `--page` adds its rows to [the race](race.md)',
  ],
  race: [
    '[-- --only NAME,… --traffic NAME,… --page]',
    'one quota on several processes, kept by quotamesh and by other limiters under the same requests; `--page` writes [the race](race.md)',
  ],
  'bench:keys': ['', 'memory and time of a million keys'],
  'bench:slots': ['[-- ROUNDS]', 'what a slot costs at the node that holds it'],
  'bench:opentelemetry': ['', 'what a grant and a refusal cost beside an OpenTelemetry SDK'],
  'bench:hmac': ['', 'what signed records cost'],
  'bench:codecs': ['', 'what compressed record batches cost'],
  'bench:sim': ['', 'how much faster than time the simulator is'],
  'bench:replay': ['-- --megabytes 1000 --trace FILE', 'a trace of any length'],
  'bench:traces': [
    '[-- PATH… --time TIMESTAMP --key key]',
    'recorded traffic on nodes that share tokens, beside one central bucket',
  ],
};
/** npm calls it by itself. */
const UNTOLD = ['prepack'];

function scriptRows(names) {
  const untold = names.filter((name) => !(name in SCRIPTS) && !UNTOLD.includes(name));
  if (untold.length > 0) throw new Error(`scripts/docs/commands.mjs has no text for npm run ${untold.join(', ')}`);
  const gone = Object.keys(SCRIPTS).filter((name) => !names.includes(name));
  if (gone.length > 0) throw new Error(`scripts/docs/commands.mjs tells of ${gone.join(', ')}; package.json does not`);
  return Object.entries(SCRIPTS).map(([name, [rest, says]]) => {
    const called = ['start', 'test'].includes(name) ? `npm ${name}` : `npm run ${name}`;
    return [`\`${`${called} ${rest}`.trim()}\``, says];
  });
}
