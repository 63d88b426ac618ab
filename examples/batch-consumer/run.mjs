// Three consumer processes in front of one slow endpoint, without a quota and then with one of 60 calls/s for all of them:
// node examples/batch-consumer/run.mjs [seconds]
import { fork } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEndpoint } from './endpoint.mjs';

const CONSUMERS = ['one', 'two', 'three'];
const LINES = 100_000;
const seconds = Number(process.argv[2] ?? 10);

const folder = await mkdtemp(join(tmpdir(), 'quotamesh-batches-'));
const file = join(folder, 'prompts.txt');
// Every tenth line is empty: work that is dropped.
await writeFile(file, Array.from({ length: LINES }, (_, at) => (at % 10 === 9 ? '' : `prompt ${at}`)).join('\n'));
try {
  await show('without a quota', 'none');
  await show('with a quota of 60 calls/s', folder);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function show(what, topic) {
  const endpoint = await startEndpoint();
  const totals = await consume(endpoint.url, topic);
  endpoint.stop();
  const { calls } = endpoint;
  const perSecond = calls.length / seconds;
  const [sent, handedBack] = ['sent', 'handedBack'].map((key) => totals.reduce((sum, total) => sum + total[key], 0));
  console.log(
    `${what}: ${calls.length} calls in ${seconds} s (${perSecond.toFixed(0)}/s), worst second ${worstSecond(calls)}; ` +
      `sent ${sent}, handed back ${handedBack}`,
  );
}

/** Starts the consumers, lets them begin together, and waits for what each has done. */
async function consume(url, topic) {
  const program = fileURLToPath(new URL('consumer.mjs', import.meta.url));
  const children = CONSUMERS.map((id, number) => {
    return fork(program, [id, number, CONSUMERS.length, file, url, seconds, topic].map(String));
  });
  await Promise.all(children.map(message));
  for (const child of children) child.send('begin');
  return Promise.all(children.map(message));
}

function message(child) {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`a consumer ended with ${code}`)));
  });
}

/** Most calls in any second. */
function worstSecond(calls) {
  let [worst, oldest] = [0, 0];
  for (let newest = 0; newest < calls.length; newest++) {
    while (calls[oldest] <= calls[newest] - 1000) oldest++;
    worst = Math.max(worst, newest - oldest + 1);
  }
  return worst;
}
