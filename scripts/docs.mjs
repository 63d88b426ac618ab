/**
 * Writes the documents that are made from tables of the source: docs/settings.md, docs/errors.md,
 * docs/metrics.md and the JSON Schema for editors. `--check` writes nothing and fails when one of them is stale.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { renderErrors } from './docs/errors.mjs';
import { renderMetrics } from './docs/metrics.mjs';
import { renderSettings } from './docs/settings.mjs';
import { ensureBuilt, root } from './freshness.mjs';

ensureBuilt();
const [
  { ERROR_CATALOGUE },
  metrics,
  settings,
  settingText,
  { RELATIONS, boundText },
  { FOREIGN_KEYS },
  { configJsonSchema },
] = await Promise.all([
  fromDist('errors.js'),
  fromDist('telemetry/metric-table.js'),
  fromDist('config/settings.js'),
  fromDist('config/setting-text.js'),
  fromDist('config/relations.js'),
  fromDist('config/foreign-keys.js'),
  fromDist('config/json-schema.js'),
]);

const documents = {
  'docs/settings.md': renderSettings({ ...settings, ...settingText, RELATIONS, boundText, FOREIGN_KEYS }),
  'docs/errors.md': renderErrors(ERROR_CATALOGUE),
  'docs/metrics.md': renderMetrics(metrics),
  'schema/node.schema.json': `${JSON.stringify(configJsonSchema(), null, 2)}\n`,
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
