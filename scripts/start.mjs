/** `npm start [-- options]`: installs and builds what is missing or stale, then runs `quotamesh demo` in this process. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, root } from './freshness.mjs';

ensureBuilt();
const cli = join(root, 'dist/bin/quotamesh.js');
process.argv.splice(1, 1, cli, 'demo');
// Not a process of its own: there is nobody in between who would have to pass on signals and exit codes.
await import(pathToFileURL(cli).href);
