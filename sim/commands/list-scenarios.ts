import { textTable } from '../../src/tools/terminal/text-table.js';
import { builtInNames, loadBuiltIn } from '../scenario/load-scenario.js';
import { SYSTEMS, shortName } from '../systems.js';
import { builtInTargetNames, loadBuiltInTarget } from '../target/load-target-scenario.js';

export function listScenarios(json: boolean): void {
  const scenarios = builtInNames().map((name) => {
    const { says, durationMs, nodes } = loadBuiltIn(name);
    return { name, seconds: durationMs / 1000, nodes: nodes.length, says };
  });
  const ofBackends = builtInTargetNames().map((name) => {
    const { says, clients, backends } = loadBuiltInTarget(name);
    return { name, backends: backends.length, clients: clients.length, says };
  });
  const systems = SYSTEMS.map(({ name, says }) => ({ name: shortName(name), says }));
  if (json) {
    process.stdout.write(`${JSON.stringify({ scenarios, ofBackends, systems })}\n`);
    return;
  }
  const rows = scenarios.map(({ name, seconds, nodes, says }) => [name, String(seconds), String(nodes), says]);
  const lines = [
    ...textTable(['Scenario', 'Seconds', 'Nodes', 'Story'], rows, ['Seconds', 'Nodes']),
    '',
    ...textTable(['Scenario of backends', 'Backends', 'Clients', 'Story'], ofBackends.map(rowOf), [
      'Backends',
      'Clients',
    ]),
    '',
    ...textTable(
      ['System', 'What it is'],
      systems.map(({ name, says }) => [name, says]),
    ),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function rowOf({ name, backends, clients, says }: Readonly<Record<string, string | number>>): string[] {
  return [name, backends, clients, says].map(String);
}
