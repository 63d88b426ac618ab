import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/files/load-config.js';
import { ConfigError } from '../../../src/config/setting/config-error.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-config-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every mistake of a text, one a line, without the folder. */
async function reportOf(yaml: string): Promise<string[]> {
  const file = join(folder, 'node.yaml');
  writeFileSync(file, yaml);
  try {
    await loadConfig({ file });
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const { report, mistakes, facts } = error as ConfigError;
    expect(facts).toEqual({ file, count: mistakes.length });
    return report.split('\n').map((line) => line.replace(`${folder}/`, ''));
  }
}

const GROUPS = 'groups: { orders: {} }\n';

describe('a broken node.yaml', () => {
  test.each<[string, string, RegExp]>([
    ['not a mapping', '- a\n', /^node.yaml:1:1: the configuration must be a mapping with the keys .*, got a list/],
    ['a text', 'hello\n', /^node.yaml:1:1: the configuration must be a mapping .*, got a text/],
    ['no cluster', GROUPS, /^node.yaml:1:1: cluster is missing\. Give every node of the cluster the same name/],
    [
      'a number for a name',
      `cluster: 7\n${GROUPS}`,
      /^node.yaml:1:10: cluster must be a name .* got 7\. Put it in quotes: "7"/,
    ],
    ['a bad name', `cluster: a b\n${GROUPS}`, /^node.yaml:1:10: cluster must be a name .* got "a b"/],
    [
      'no groups, and a default group',
      'cluster: demo\ngroups: {}\ndefaultGroup: orders\n',
      /^node.yaml:3:15: defaultGroup must name a configured group, got "orders"/,
    ],
    [
      'groups as a list',
      'cluster: demo\ngroups: [a]\n',
      /^node.yaml:2:9: groups must be a mapping of group name to settings, got a list/,
    ],
    [
      'a bad group name',
      'cluster: demo\ngroups:\n  a b: {}\n',
      /^node.yaml:3:3: groups\["a b"\] is no name for a group/,
    ],
    [
      'a group as a number',
      'cluster: demo\ngroups:\n  orders: 5\n',
      /^node.yaml:3:11: groups.orders must be a mapping with the keys quota, ramp, strategy, .*got 5/,
    ],
    [
      'an unknown key',
      `cluster: demo\nlogg: {}\n${GROUPS}`,
      /^node.yaml:2:1: logg is not a known key\. Did you mean "log"\?$/,
    ],
    [
      'a key of another section',
      `cluster: demo\nheartbeatMs: 1s\n${GROUPS}`,
      /^node.yaml:2:1: heartbeatMs is not a known key\. It belongs below timing\.$/,
    ],
    [
      'a direction right below a group',
      'cluster: demo\ngroups:\n  orders:\n    publish: { messagesPerSecond: 5 }\n',
      /:4:5: groups.orders.publish is .*\. It belongs below quota or shadow\.quota or perTopic or perClient\.$/,
    ],
    [
      'a rate right below quota',
      'cluster: demo\ngroups:\n  orders:\n    quota: { messagesPerSecond: 5 }\n',
      /:4:14: groups.orders.quota.messagesPerSecond is .*\. It belongs below quota.publish or quota.dispatch\.$/,
    ],
    [
      'a group key at the top',
      `cluster: demo\nquota: {}\n${GROUPS}`,
      /^node.yaml:2:1: quota .* put it below groups.<name> or defaults\.$/,
    ],
    [
      'a key of PIP-82',
      `cluster: demo\nresourceUsagePublishTopicName: x\n${GROUPS}`,
      /:2:1: .*That is PIP-82's name; here it is topic.name/,
    ],
    [
      'a merge key',
      `cluster: demo\ndefaults: &d {}\ngroups:\n  a:\n    <<: *d\n`,
      /^node.yaml:5:5: groups.a\["<<"\] is not .* Merge keys are not read: put what groups share below defaults\.$/,
    ],
    [
      'a mapping as a value',
      `cluster: demo\nsampleIntervalMs: {}\n${GROUPS}`,
      /:2:19: sampleIntervalMs must be a duration between 1ms and 1s .* got a mapping/,
    ],
    [
      'a value as a section',
      `cluster: demo\nhttp: 7070\n${GROUPS}`,
      /:2:7: http must be a mapping with the keys host, port, socket, (\w+, )+tls, got 7070/,
    ],
    [
      'out of range',
      `cluster: demo\nhttp: { port: 70000 }\n${GROUPS}`,
      /:2:15: http.port must be a whole number between 0 and 65535 .*got 70000/,
    ],
    ['not whole', `cluster: demo\nhttp: { port: 70.5 }\n${GROUPS}`, /:2:15: http.port must be a whole number/],
    [
      'a wrong unit',
      `cluster: demo\ntiming:\n  heartbeatMs: 1sec\n${GROUPS}`,
      /:3:16: timing.heartbeatMs must be .* got "1sec"\. Correct it, or remove the key for the default \(1s\)\.$/,
    ],
    [
      'an infinite number',
      `cluster: demo\ntiming:\n  noiseFactor: .inf\n${GROUPS}`,
      /:3:16: timing.noiseFactor must be a number between 0 and 20 .*got Infinity/,
    ],
    [
      'a wrong choice',
      `cluster: demo\nlog: { level: inof }\n${GROUPS}`,
      /:2:15: log.level must be one of trace, .* got "inof"\. Did you mean "info"\?$/,
    ],
    [
      'a topic of no kind',
      `cluster: demo\ntopic: 5\n${GROUPS}`,
      /:2:8: topic must be a mapping with the keys kind, got 5/,
    ],
    [
      'a misspelled topic',
      `cluster: demo\ntopic: kafak\n${GROUPS}`,
      /:2:8: topic.kind must be one of none, memory, embedded, kafka, redis, got "kafak"\. Did you mean "kafka"\?$/,
    ],
    [
      'a Redis without an address',
      `cluster: demo\ntopic: redis\n${GROUPS}`,
      /:2:8: topic.addresses is required with kind redis\. Name the server/,
    ],
    [
      'two Redis servers without a master',
      `cluster: demo\ntopic: { kind: redis, addresses: ["a:1", "b:1"] }\n${GROUPS}`,
      /:2:34: topic.addresses must name one server, got 2\. Name one, or add sentinel\.master/,
    ],
    [
      'a Sentinel password without a master',
      `cluster: demo\ntopic: { kind: redis, addresses: ["a:1"], sentinel: { password: x } }\n${GROUPS}`,
      /topic.sentinel.master is required with sentinel.password/,
    ],
    [
      'a key of another kind of topic',
      `cluster: demo\ntopic: { kind: embedded, brokers: ["a:1"] }\n${GROUPS}`,
      /:2:26: topic.brokers is not a known key\. It belongs to a topic of kind kafka\.$/,
    ],
    [
      'kafka without brokers',
      `cluster: demo\ntopic: kafka\n${GROUPS}`,
      /:2:8: topic.brokers is required with kind kafka\. Name at least one broker/,
    ],
    [
      'a broker without port',
      `cluster: demo\ntopic:\n  kind: kafka\n  brokers: ["a:9092", b]\n${GROUPS}`,
      /:4:23: topic.brokers\[1\] must be host:port, got "b"\. Name at least one broker, e\.g\. `brokers/,
    ],
    [
      'no brokers',
      `cluster: demo\ntopic: { kind: kafka, brokers: [] }\n${GROUPS}`,
      /:2:32: topic.brokers must be a list of host:port.* got an empty list/,
    ],
    [
      'half of sasl',
      `cluster: demo\ntopic: { kind: kafka, brokers: ["a:1"], sasl: { mechanism: plain, username: u } }\n${GROUPS}`,
      /:2:47: topic.sasl.password is required with sasl/,
    ],
    [
      'a certificate without key',
      `cluster: demo\ntopic: { kind: kafka, brokers: ["a:1"], tls: { cert: PEM } }\n${GROUPS}`,
      /topic.tls.key is required with tls.cert/,
    ],
    [
      'a secret twice',
      `cluster: demo\ntopic: { kind: kafka, brokers: ["a:1"], tls: { ca: PEM, caFile: ./x } }\n${GROUPS}`,
      /topic.tls.caFile and topic.tls.ca exclude each other/,
    ],
    [
      'a missing secret file',
      `cluster: demo\ntopic: { kind: kafka, brokers: ["a:1"], tls: { caFile: ./absent.pem } }\n${GROUPS}`,
      /:2:56: topic.tls.caFile cannot be read: there is no such file/,
    ],
    [
      'replication 0',
      `cluster: demo\ntopic: { kind: kafka, brokers: ["a:1"], replicationFactor: 0 }\n${GROUPS}`,
      /topic.replicationFactor must not be 0\. Use -1/,
    ],
    [
      'staleness against heartbeat',
      `cluster: demo\ntiming:\n  heartbeatMs: 1400\n  stalenessMs: 4.1s\n${GROUPS}`,
      /:4:16: timing.stalenessMs must be at least 3 × .* = 4200ms, got 4100ms: .* Raise .* or lower/,
    ],
    [
      'a default against a setting',
      `cluster: demo\ntiming:\n  heartbeatMs: 1600\n${GROUPS}`,
      /:3:16: timing.isolationAfterMs must be at least 2 × .* = 3200ms, got 3s \(the default\): otherwise/,
    ],
    [
      'an unknown default group',
      `cluster: demo\ndefaultGroup: order\n${GROUPS}`,
      /:2:15: defaultGroup must name a configured group, got "order"\. Did you mean "orders"\?$/,
    ],
    [
      'metrics of an unknown group',
      `cluster: demo\nmetrics: { perGroup: [orders, mail] }\n${GROUPS}`,
      /:2:31: metrics.perGroup\[1\] must name a configured group, got "mail"\. Add the group/,
    ],
    [
      'metrics of a pattern that could take long',
      `cluster: demo\nmetrics: { perGroup: ["*a*b*c*"] }\n${GROUPS}`,
      /:2:23: metrics.perGroup\[0\] must be the name of a group, or a pattern of names with up to three \*/,
    ],
    [
      'a mistake in defaults',
      `cluster: demo\ndefaults:\n  debtMs: -1\n${GROUPS}`,
      /^node.yaml:3:11: defaults.debtMs must be a duration between 0 and 1d/,
    ],
    [
      'a strategy that does not exist',
      'cluster: demo\ngroups:\n  orders: { strategy: steal-half }\n',
      /:3:23: groups.orders.strategy must be .*steal-halfway.* got "steal-half"/,
    ],
    [
      'a range of shares without a share in it',
      'cluster: demo\ndefaults: { maxShareRatio: 0.2 }\ngroups:\n  orders: { minShareRatio: 30% }\n',
      /:4:28: groups.orders.minShareRatio must be at most maxShareRatio = 0.2, got 0.3/,
    ],
    [
      'a slew limit of 0',
      'cluster: demo\ngroups:\n  orders: { slewPerSecond: 0 }\n',
      /:3:28: groups.orders.slewPerSecond must be .*got 0/,
    ],
    [
      'more reserved than there is',
      'cluster: demo\ngroups:\n  a: { quota: { publish: { costPerSecond: 10, reservedCostPerSecond: 11 } } }\n',
      /^node.yaml:3:70: groups.a.quota.publish.reservedCostPerSecond must be at most .* = 10, got 11\./,
    ],
    [
      'a ramp that falls',
      'cluster: demo\ngroups:\n  a: { ramp: { fromPerSecond: 100, toPerSecond: 10 } }\n',
      /^node.yaml:3:31: groups.a.ramp.fromPerSecond must be at most ramp.toPerSecond = 10, got 100\. Lower it/,
    ],
    [
      'a ramp that begins above the quota',
      'cluster: demo\ngroups:\n  a: { quota: { publish: { messagesPerSecond: 50 } }, ramp: { fromPerSecond: 100 } }\n',
      /:3:78: groups.a.ramp.fromPerSecond must be at most the quota, 50, got 100\./,
    ],
    [
      'a ramp without end',
      'cluster: demo\ngroups:\n  a: { quota: { publish: { costPerSecond: 50 } }, ramp: { fromPerSecond: 10 } }\n',
      /groups.a.ramp.fromPerSecond needs an end.* Set ramp.toPerSecond/,
    ],
    [
      'a ramp without beginning',
      'cluster: demo\ngroups:\n  a: { ramp: { toPerSecond: 10 } }\n',
      /groups.a.ramp.toPerSecond has no beginning/,
    ],
    [
      'a ramp with a mode and a time, and no beginning',
      'cluster: demo\ngroups:\n  a: { ramp: { mode: scheduled, overMs: 30s } }\n',
      /^node.yaml:3:22: groups.a.ramp.mode has no beginning: ramp.fromPerSecond is missing/,
    ],
    [
      'defaults of ramps that no group has',
      'cluster: demo\ndefaults: { ramp: { overMs: 30s } }\ngroups:\n  a: {}\n',
      /^node.yaml:2:29: defaults.ramp.overMs has no beginning/,
    ],
    ...['0', '-1s'].map((over): [string, string, RegExp] => [
      `a ramp of ${over}`,
      `cluster: demo\ngroups:\n  a: { ramp: { fromPerSecond: 1, toPerSecond: 10, overMs: ${over} } }\n`,
      /groups.a.ramp.overMs must be .*at least 1s|groups.a.ramp.overMs must be a duration/,
    ]),
    [
      'a threshold above everything',
      'cluster: demo\ngroups:\n  a: { ramp: { fromPerSecond: 1, toPerSecond: 10, thresholdRatio: 150% } }\n',
      /groups.a.ramp.thresholdRatio must be .*150%/,
    ],
    [
      'a backend without target',
      `cluster: demo\nbackends:\n  db: { url: 'http://db/m', metric: q, spring: 1 }\n${GROUPS}`,
      /^node.yaml:3:7: backends.db.target is missing\. Name the level/,
    ],
    [
      'a backend with another address',
      `cluster: demo\nbackends:\n  db: { url: 'db:9100', metric: q, target: 2, spring: 1 }\n${GROUPS}`,
      /^node.yaml:3:14: backends.db.url must be an http or https address, got "db:9100"/,
    ],
    [
      'a metric that is none',
      `cluster: demo\nbackends:\n  db: { url: 'http://db/m', metric: 'q q', target: 2, spring: 1 }\n${GROUPS}`,
      /backends.db.metric must be the name of a metric/,
    ],
    [
      'a poll too rare',
      `cluster: demo\nbackends:\n  db: { url: 'http://db/m', metric: q, target: 2, spring: 1, everyMs: 6s }\n${GROUPS}`,
      /backends.db.everyMs must be at most 5000ms, got 6000ms/,
    ],
    [
      'a name of a backend',
      `cluster: demo\nbackends:\n  a b: { url: 'http://db/m', metric: q, target: 2, spring: 1 }\n${GROUPS}`,
      /^node.yaml:3:3: backends\["a b"\] is no name for a backend/,
    ],
    [
      'a weight of 0',
      'cluster: demo\ngroups:\n  orders: { weights: { n1: 1, n2: 0 } }\n',
      /:3:35: groups.orders.weights.n2 must be a number between 0.001 and 1000 .*got 0/,
    ],
    [
      'a tag',
      `cluster: !name demo\n${GROUPS}`,
      /^node.yaml:1:10: the configuration is not readable as YAML: a text that begins with ! needs quotes/,
    ],
    [
      'an unknown alias',
      `cluster: *demo\n${GROUPS}`,
      /^node.yaml:1:1: the configuration is not readable as YAML: Unresolved alias/,
    ],
    [
      'an open bracket',
      `cluster: demo\ngroups: { orders: {}\n`,
      /^node.yaml:\d:\d+: the configuration is not readable as YAML/,
    ],
    [
      'a tab',
      `cluster: demo\ngroups:\n\torders: {}\n`,
      /^node.yaml:3:1: the configuration is not readable as YAML: Tabs are not allowed/,
    ],
    ['two documents', `cluster: demo\n---\n${GROUPS}`, /not readable as YAML: a second document begins here/],
    [
      'a key twice',
      `cluster: demo\ngroups:\n  orders: {}\n  mail: {}\n  orders: {}\n`,
      /^node.yaml:5:3: groups.orders is written twice, first in line 3\. Keep one of the two\.$/,
    ],
  ])('with %s', async (_, yaml, expected) => {
    const report = await reportOf(yaml);
    expect(report).toHaveLength(1);
    expect(report[0]).toMatch(expected);
  });

  test('tells every mistake at once, in the order of the file', async () => {
    const report = await reportOf(`cluster: demo
http: { port: -1 }
timing:
  stalenessMs: 2s
  hartbeatMs: 1s
groups:
  orders:
    quota:
      publish:
        messagesPerSecond: -5
        bytesPerSecond: lots
    qouta: {}
  mail:
    strategy: fair
    maxRequest: { messages: 0 }
`);
    expect(report.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'node.yaml:2:15: http.port',
      'node.yaml:4:16: timing.stalenessMs',
      'node.yaml:4:16: timing.isolationAfterMs',
      'node.yaml:5:3: timing.hartbeatMs',
      'node.yaml:10:28: groups.orders.quota.publish.messagesPerSecond',
      'node.yaml:11:25: groups.orders.quota.publish.bytesPerSecond',
      'node.yaml:12:5: groups.orders.qouta',
      'node.yaml:14:15: groups.mail.strategy',
      'node.yaml:15:29: groups.mail.maxRequest.messages',
    ]);
    expect(report[4]).toBe(
      'node.yaml:10:28: groups.orders.quota.publish.messagesPerSecond must be a rate ≥ 0 (e.g. 1000 or 10k), got -5. ' +
        'Remove the key for "unlimited" or use 0 to block.',
    );
  });

  test('points into an anchor when the mistake came through its alias', async () => {
    const report = await reportOf(`cluster: demo
groups:
  one: &one
    debtMs: soon
  two: *one
`);
    expect(report).toHaveLength(2);
    for (const line of report) expect(line).toMatch(/^node.yaml:4:13: groups\.(one|two)\.debtMs must be/);
  });

  test('with very many mistakes shows the first 200', async () => {
    const groups = Array.from({ length: 5000 }, (_, index) => `  group-${index}: { debtMs: -1 }`);
    const report = await reportOf(`cluster: demo\ngroups:\n${groups.join('\n')}\n`);
    expect(report).toHaveLength(201);
    expect(report[199]).toMatch(/^node.yaml:202:/);
    expect(report[200]).toBe('… and perhaps more');
  });
});
