import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './freshness.mjs';

/** Writes the JSON Schemas for editors into schema/, from the tables of dist/src: node.yaml, and the two kinds of scenarios. */
export async function writeSchemas() {
  const schemas = {
    node: ['src/config/describe/json-schema.js', 'configJsonSchema'],
    scenario: ['sim/scenario/json-schema.js', 'scenarioJsonSchema'],
    'target-scenario': ['sim/target/json-schema.js', 'targetScenarioJsonSchema'],
  };
  mkdirSync(join(root, 'schema'), { recursive: true });
  for (const [name, [file, maker]] of Object.entries(schemas)) {
    const { [maker]: make } = await import(pathToFileURL(join(root, 'dist', file)).href);
    writeFileSync(join(root, 'schema', `${name}.schema.json`), `${JSON.stringify(make())}\n`);
  }
}
