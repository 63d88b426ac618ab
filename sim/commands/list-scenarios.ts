import { print } from '../../src/tools/terminal/print.js';
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
    print(JSON.stringify({ scenarios, ofBackends, systems }));
    return;
  }
  const rows = scenarios.map(({ name, seconds, nodes, says }) => [name, String(seconds), String(nodes), says]);
  const backendRows = ofBackends.map(({ name, backends, clients, says }) => {
    return [name, String(backends), String(clients), says];
  });
  const systemRows = systems.map(({ name, says }) => [name, says]);
  print(
    ...textTable(['Scenario', 'Seconds', 'Nodes', 'Story'], rows, ['Seconds', 'Nodes']),
    '',
    ...textTable(['Scenario of backends', 'Backends', 'Clients', 'Story'], backendRows, ['Backends', 'Clients']),
    '',
    ...textTable(['System', 'What it is'], systemRows),
  );
}
