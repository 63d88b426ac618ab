import { builtInNames, loadBuiltIn } from '../../../sim/scenario/load-scenario.js';
import { SYSTEMS, shortName } from '../../../sim/systems.js';
import { textTable } from '../text-table.js';

/** `quotamesh sim list`. */
export function listScenarios(json: boolean): void {
  const scenarios = builtInNames().map((name) => {
    const { says, durationMs, nodes } = loadBuiltIn(name);
    return { name, seconds: durationMs / 1000, nodes: nodes.length, says };
  });
  const systems = SYSTEMS.map(({ name, says }) => ({ name: shortName(name), says }));
  if (json) {
    process.stdout.write(`${JSON.stringify({ scenarios, systems })}\n`);
    return;
  }
  const rows = scenarios.map(({ name, seconds, nodes, says }) => [name, String(seconds), String(nodes), says]);
  const lines = [
    ...textTable(['Scenario', 'Seconds', 'Nodes', 'Story'], rows, ['Seconds', 'Nodes']),
    '',
    ...textTable(
      ['System', 'What it is'],
      systems.map(({ name, says }) => [name, says]),
    ),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
