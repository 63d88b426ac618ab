import { expect, test } from 'vitest';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { blocksOf, type Ports } from '../guides/page-blocks.js';
import { playPage } from '../guides/played-page.js';

const PAGE_MS = 110_000;

async function portsFor(...ports: readonly string[]): Promise<Ports> {
  const free = await freePorts(ports.length);
  return Object.fromEntries(ports.map((port, at) => [port, free[at]]));
}

/** By `sort | uniq -c`: status → how often. */
function countsIn(text = ''): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...text.matchAll(/^ *(\d+) (\d{3})$/gm)].map(([, count, status]) => [status, Number(count)]),
  );
}

const waitFor = (port: string) => `until curl -sf http://127.0.0.1:${port}/readyz > ready.out; do sleep 0.2; done`;

test('docs/guide/start.md: from an empty folder to a quota per key that is halved', {
  timeout: PAGE_MS + 10_000,
}, async () => {
  const ports = await portsFor('7070', '8081', '8082');
  const { code, output, outputs } = await playPage(blocksOf('docs/guide/start.md', ports), { timeoutMs: PAGE_MS });
  expect(code, output).toBe(0);
  const [, checked, , nodes, asked = '', flooded, halved] = outputs;
  expect(checked).toMatch(/^node\.yaml: valid/);
  for (const name of ['a', 'b', 'watch']) expect(nodes).toMatch(new RegExp(`^${name}(?: \\*)? +alive`, 'm'));
  // A bucket of twenty each, and what flows in while curl asks fifty times, for which a busy machine takes a second or two.
  const [alice, bob] = asked.split(/(?<=429\n)/).map(countsIn);
  for (const counts of [alice, bob]) {
    expect(counts?.['200'], asked).toBeLessThanOrEqual(35);
    expect((counts?.['200'] ?? 0) + (counts?.['429'] ?? 0)).toBe(50);
  }
  expect(asked).toMatch(/^RateLimit-Policy: "key:bob-publish-messages";q=10;w=1\r$/im);
  expect(asked).toMatch(/^RateLimit: /im);
  const [before, after] = [countsIn(flooded), countsIn(halved)];
  // Ten seconds and a loop's length at 10/s, and a bucket of twenty.
  expect(before['200'], flooded).toBeLessThanOrEqual(135);
  expect(after['200'], halved).toBeLessThan(0.75 * before['200']);
  expect(after['429'], halved).toBeGreaterThan(after['200']);
  expect(halved?.match(/^key:alice +publish/gm), halved).toHaveLength(1);
});

test('docs/operate/upgrade.md: a node is replaced under traffic, and nobody notices', {
  timeout: PAGE_MS,
}, async () => {
  const ports = await portsFor('7070', '7071');
  const [a, b] = [ports['7070'], ports['7071']].map((port) => `http://127.0.0.1:${port}`) as [string, string];
  const before = `cat > node.yaml <<'END'
cluster: upgraded
topic: { kind: embedded, path: ./log }
groups: { orders: { quota: { publish: { messagesPerSecond: 1000 } } } }
END
quotamesh run --config node.yaml --node a --http ${a.slice(7)} > a.log & a=$!
quotamesh run --config node.yaml --node b --http ${b.slice(7)} > b.log & b=$!
${waitFor(`${ports['7070']}`)}
${waitFor(`${ports['7071']}`)}
sleep 2
while sleep 0.05; do
  curl -s -w ' %{http_code}\\n' -H 'content-type: application/json' -d '{"group":"orders","messages":1}' ${a}/v1/acquire
done > answers & traffic=$!
sleep 1`;
  const { code, output, outputs, file } = await playPage(blocksOf('docs/operate/upgrade.md', ports), {
    before,
    after: { 1: 'kill $traffic' },
    timeoutMs: PAGE_MS,
  });
  expect(code, output).toBe(0);
  expect(outputs[0]).toMatch(/^node\.yaml: valid/);
  expect(outputs[1]).toMatch(/^a \* +alive +\S+ s +1 /m);
  expect(outputs[1]).toMatch(/^b +alive +\S+ s +2 /m);
  const answers = file('answers').trim().split('\n');
  expect(answers.length).toBeGreaterThan(20);
  expect(answers.filter((answer) => !answer.endsWith(' 200'))).toEqual([]);
});

test('docs/operate/back-up.md: what was copied, put into an empty cluster, is the same', {
  timeout: PAGE_MS,
}, async () => {
  const ports = await portsFor('7070');
  const [port] = [`${ports['7070']}`];
  const started = (cluster: string) => `cat > node.yaml <<'END'
cluster: ${cluster}
topic: { kind: embedded, path: ./log-${cluster} }
groups: { orders: { quota: { publish: { messagesPerSecond: 1000 } } } }
END
quotamesh run --config node.yaml --node a --http 127.0.0.1:${port} > ${cluster}.log & node=$!
${waitFor(port)}`;
  const url = `--url http://127.0.0.1:${port}`;
  const { code, output, outputs, file } = await playPage(blocksOf('docs/operate/back-up.md', ports), {
    before: `${started('old')}
quotamesh group set acme quota.publish.messagesPerSecond=10 burst=20 ${url}
quotamesh group set orders quota.publish.messagesPerSecond=500 ${url}
quotamesh group attach acme --tenant tenant-1 ${url}
quotamesh key template set 'key:{id}' quota.publish.messagesPerSecond='60/min' ${url}
quotamesh key set key:gold quota.publish.messagesPerSecond='600/min' ${url}`,
    after: {
      0: `kill $node; wait $node; ${started('new')}`,
      1: `quotamesh group export ${url} > again.yaml
quotamesh key template list --json ${url} > keys-again.json`,
    },
    timeoutMs: PAGE_MS,
  });
  expect(code, output).toBe(0);
  expect(file('groups.yaml')).toContain('acme');
  expect(file('again.yaml')).toBe(file('groups.yaml'));
  expect(file('groups.yaml')).toMatch(/tenant-1:\n +group: acme\n/);
  expect(file('audit.jsonl').trim().split('\n').length).toBeGreaterThanOrEqual(3);
  expect(outputs[1]).toMatch(/^acme /m);
  expect(outputs[1]).toContain('templates and keys: 2 of 2 changed');
  const definitions = (text: string) => {
    const read = JSON.parse(text) as { readonly definitions: readonly { readonly definition: object }[] };
    return read.definitions.map(({ definition }) => definition);
  };
  expect(definitions(file('keys-again.json'))).toEqual(definitions(file('keys.json')));
});

test('docs/guide/budgets.md: a month is spent, topped up and reset, and says who did it', {
  timeout: PAGE_MS,
}, async () => {
  const ports = await portsFor('7070');
  const blocks = blocksOf('docs/guide/budgets.md', ports);
  const url = `http://127.0.0.1:${ports['7070']}`;
  const spend = (messages: number) => `curl -s -o spent.json -w ' %{http_code}\\n' -H 'content-type: application/json' \
  -d '{"group":"acme","messages":${messages},"waitMs":5000}' ${url}/v1/acquire`;
  const yaml = blocks.find(({ language }) => language === 'yaml')?.text ?? '';
  const { code, output, outputs } = await playPage(blocks, {
    before: `cat > budgets.yaml <<'END'
${yaml.replace('messages: 5000000', 'messages: 50').replace('messagesPerSecond: 100', 'messagesPerSecond: 10000')}
END
quotamesh run --config budgets.yaml --node a --http ${url.slice(7)} > a.log &
${waitFor(`${ports['7070']}`)}
until quotamesh explain acme --url ${url} | grep -q '50 of 50 messages per month left'; do sleep 0.5; done
${spend(50)}
${spend(1)}`,
    after: { 0: `${spend(1)}; grep '"audit":true' a.log` },
    timeoutMs: PAGE_MS,
  });
  expect(code, output).toBe(0);
  expect(output).toMatch(/^ 200\n 429\n/m);
  expect(outputs[0]).toMatch(/^invoice-7 counts\. acme: 100000 of 100050 messages per month left until /m);
  expect(outputs[0]).toMatch(/^case-12 counts\. acme: 100050 of 100100 messages per month left /m);
  expect(outputs[0]).toMatch(/^\S+Z loopback \(open\) invoice-7: 100000 given$/m);
  expect(outputs[0]).toMatch(/^\S+Z loopback \(open\) case-12: reset, 50 counted$/m);
  expect(outputs[0]).toMatch(/^ 200$/m);
  expect(outputs[0]).toMatch(/"kind":"budget","name":"acme","id":"invoice-7"/);
});
