/**
 * Writes the documents that are made from tables of the source: docs/reference/settings.md, docs/reference/errors.md,
 * docs/reference/metrics.md, docs/reference/commands.md, docs/operate/kafka-security.md, docs/operate/helm.md,
 * docs/guide/strategies.md with its pictures, docs/reference/scenarios.md, a picture of an outage, and moving pictures.
 * `--check` writes nothing and fails when one of them is stale.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { renderAnimation } from './docs/animation.mjs';
import { playStory, STORIES } from './docs/animation-runs.mjs';
import { renderCommands } from './docs/commands.mjs';
import { renderErrors } from './docs/errors.mjs';
import { renderHelm } from './docs/helm.mjs';
import { renderKafkaSecurity } from './docs/kafka-security.mjs';
import { renderMetrics } from './docs/metrics.mjs';
import { renderScenarios } from './docs/scenarios.mjs';
import { renderSettings } from './docs/settings.mjs';
import { renderStrategies } from './docs/strategies.mjs';
import { renderPicture } from './docs/strategy-picture.mjs';
import { picturesOf, play } from './docs/strategy-runs.mjs';
import { renderTopicAway } from './docs/topic-away.mjs';
import { ensureBuilt, root } from './freshness.mjs';

ensureBuilt();
const [
  { createProgram },
  { nodeCommand },
  { ERROR_CATALOGUE },
  metrics,
  nodeMetrics,
  admissionMetrics,
  kafkaQuotaMetrics,
  groupMetrics,
  neededAcls,
  topicSettings,
  settings,
  settingText,
  { RELATIONS, boundText },
  { CONSTANTS },
  { formatQuantity },
  { FOREIGN_KEYS },
  { resolveConfig },
  { STRATEGY_NAMES },
  { World },
  { bucketNow },
  { playTopicAway, AWAY },
  fields,
  { LOAD_KINDS },
  { HAPPENING_KINDS },
  { METRICS },
  targetFields,
] = await Promise.all([
  fromDist('tools/cli/program.js'),
  fromDist('tools/cli/look/node-command.js'),
  fromDist('base/errors/catalogue.js'),
  fromDist('doors/telemetry/metric-table.js'),
  fromDist('doors/telemetry/node-metrics.js'),
  fromDist('doors/telemetry/admission-metrics.js'),
  fromDist('doors/telemetry/kafka-quota-metrics.js'),
  fromDist('doors/telemetry/group-metrics.js'),
  fromDist('topic/kafka/needed-acls.js'),
  fromDist('topic/kafka/topic-settings.js'),
  fromDist('config/schema/all-settings.js'),
  fromDist('config/setting/setting-text.js'),
  fromDist('config/read/check-relations.js'),
  fromDist('config/resolved/constants.js'),
  fromDist('config/setting/quantity.js'),
  fromDist('config/schema/read-section.js'),
  fromDist('config/read/resolve-config.js'),
  fromDist('core/convergence/strategies.js'),
  fromDist('../sim/cluster/world.js'),
  fromDist('core/machine/bucket-now.js'),
  fromDist('../sim/topic-away.js'),
  fromDist('../sim/scenario/scenario-fields.js'),
  fromDist('../sim/scenario/load-kinds.js'),
  fromDist('../sim/scenario/happening-kinds.js'),
  fromDist('../sim/verdict/metric-table.js'),
  fromDist('../sim/target/target-fields.js'),
]);

const runs = Object.entries(picturesOf(STRATEGY_NAMES)).map(([name, group]) => [
  name,
  play(group, { resolveConfig, World }),
]);
const pictures = runs.map(([name, run]) => [`docs/pictures/${name}.svg`, renderPicture(name, run)]);

const animations = Object.entries(STORIES).map(([name, story]) => {
  const frames = playStory(story, { resolveConfig, World, bucketNow });
  return [`docs/pictures/${name}.svg`, renderAnimation(story, frames)];
});

const documents = {
  'docs/reference/settings.md': renderSettings({
    ...settings,
    ...settingText,
    RELATIONS,
    boundText,
    CONSTANTS,
    formatQuantity,
    FOREIGN_KEYS,
  }),
  'docs/reference/errors.md': renderErrors(ERROR_CATALOGUE),
  'docs/reference/metrics.md': renderMetrics({
    ...metrics,
    ...nodeMetrics,
    ...admissionMetrics,
    ...kafkaQuotaMetrics,
    ...groupMetrics,
  }),
  'docs/reference/commands.md': renderCommands({
    createProgram,
    nodeCommand,
    npmScripts: Object.keys(JSON.parse(written('package.json')).scripts),
  }),
  'docs/operate/kafka-security.md': renderKafkaSecurity({ ...neededAcls, ...topicSettings }),
  'docs/operate/helm.md': renderHelm({
    schema: written('deploy/helm/quotamesh/values.schema.json'),
    values: written('deploy/helm/quotamesh/values.yaml'),
  }),
  'docs/guide/strategies.md': renderStrategies(STRATEGY_NAMES),
  ...Object.fromEntries(pictures),
  ...Object.fromEntries(animations),
  'docs/pictures/topic-away.svg': renderTopicAway({ playTopicAway, AWAY, resolveConfig }),
  'docs/reference/scenarios.md': renderScenarios({
    fields,
    LOAD_KINDS,
    HAPPENING_KINDS,
    METRICS,
    targetFields,
  }),
};

const stale = Object.entries(documents).filter(([file, text]) => written(file) !== text);
if (!process.argv.includes('--check')) {
  for (const [file, text] of stale) write(file, text);
  process.stdout.write(`${stale.length} of ${Object.keys(documents).length} documents rewritten\n`);
} else if (stale.length > 0) {
  process.stderr.write(`stale: ${stale.map(([file]) => file).join(', ')}. Run \`npm run docs\`.\n`);
  process.exitCode = 1;
}

function fromDist(file) {
  return import(pathToFileURL(join(root, 'dist/src', file)).href);
}

function written(file) {
  try {
    return readFileSync(join(root, file), 'utf8');
  } catch {
    return undefined;
  }
}

function write(file, text) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}
