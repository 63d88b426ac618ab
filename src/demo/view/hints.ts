import type { NodeProcess } from '../../processes/node-process.js';
import type { StateFolder } from '../processes/state-folder.js';

/** Where to look next: commands to paste into another terminal, in the folder of this project. */
export function hintsFor(nodes: readonly NodeProcess[], folder: StateFolder, group: string): string[] {
  const [first] = nodes;
  const victim = nodes[1] ?? first;
  const newcomer = String.fromCharCode('A'.charCodeAt(0) + nodes.length);
  const body = JSON.stringify({ group, messages: 1, bytes: 2000 });
  return [
    `nodes      ${nodes.map(({ id, url, child }) => `${id} ${url} (pid ${child.pid})`).join('  ')}`,
    `page       ${first.url}/    # in a browser: the cluster as node ${first.id} sees it`,
    `look       npx quotamesh status --url ${first.url} --watch`,
    `ask        curl -s ${first.url}/v1/acquire -H 'content-type: application/json' -d '${body}'`,
    `kill       kill -9 ${victim.child.pid}    # node ${victim.id}; the others have its share when its silence is long enough`,
    `join       npx quotamesh run --config ${folder.configFile} --node ${newcomer} --http 127.0.0.1:0`,
    `logs       ${folder.path}`,
    'Ctrl-C ends it.',
  ];
}
