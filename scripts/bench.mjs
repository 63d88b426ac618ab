/** `npm run bench:NAME [-- arguments]`: compiles bench/ and what it uses into dist-bench/, then runs the file of this name. */
import { cpSync, rmSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, localBin, root, run } from './freshness.mjs';
import { GENERATED } from './protos.mjs';

const [name, ...args] = process.argv.slice(2);
ensureBuilt();
const out = join(root, 'dist-bench');
rmSync(out, { recursive: true, force: true });
run(process.execPath, [localBin('typescript', 'tsc'), '-p', join(root, 'tsconfig.bench.json')]);
for (const folder of GENERATED) cpSync(join(root, folder), join(out, folder), { recursive: true });
for (const file of ['test/kafka/pom.xml', 'test/pulsar/broker/pom.xml', 'test/pulsar/broker/log4j2.xml']) {
  cpSync(join(root, file), join(out, file));
}
process.stdout.write(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, load average ${loadavg()[0].toFixed(1)}\n`,
);
run(process.execPath, [join(out, 'bench', `${name}.js`), ...args]);
