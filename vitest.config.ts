import { dirname, join, relative, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ensureBuilt } from './scripts/freshness.mjs';
import { groupOf, PROJECTS } from './scripts/test-groups.mjs';

ensureBuilt();

/** Draws which sixth of the seeds is played (test/property/seed.ts); npm run test:long plays all of them. */
if (process.env.TEST_SIXTH === undefined) {
  process.env.TEST_SIXTH = String(Math.floor(6 * Math.random()));
  process.stdout.write(`seeds: TEST_SIXTH=${process.env.TEST_SIXTH} plays these again, TEST_SIXTH=all plays all\n`);
}

/**
 * quick:     everything in virtual time or in one process: computes, and waits for next to nothing
 * quick-waiting: in one process or a few, with less to compute than to wait for
 * memory:    what a process alone takes: a process for each file
 * stories:   what clusters of real processes promise under load, to some per cent, also while their topic is away; and beside them what
 *            waits for deadlines, servers and Redis, with next to nothing to compute
 * processes: the command, other clusters of real processes with wider bounds, Kafka's brokers, and the limiter in real time
 * demo:      `npm start` as a user runs it, with its verdict
 *
 * `npm run test:long` only:
 * long-computing: in virtual time, one core each
 * long-waiting:   mostly waiting, bounds that a busy machine keeps
 * long-stories:   clusters under loads of less than half a core, to some per cent
 * long:           brokers and loads that want both cores, one file at a time
 */
const common = { testTimeout: 30_000, hookTimeout: 120_000 };
const processes = [
  'test/unit/cli/{commands,operate,pipe-end,run,reload,process-guard}.test.ts',
  'test/unit/admission/ways-to-take.test.ts',
  'test/conformance/kafka-*.test.ts',
  'test/{envoy,integration,kafka}/**/*.test.ts',
];
const stories = [
  'test/integration/{cluster-*,hot-reloads,outage-kafka,sim-live}.test.ts',
  'test/{conformance,integration}/redis-*.test.ts',
  // A test of these takes a tenth of a core, and judges no rate.
  'test/conformance/embedded-topic.test.ts',
  'test/integration/{enforce-example,kafka-partitions,kafka-topic-cost,kafka-topic-settings}.test.ts',
  'test/unit/admission/{batches,told-when-to-come-back}.test.ts',
  'test/unit/runtime/reload/yaml-comparison.test.ts',
  'test/unit/topic/embedded-folder.test.ts',
];
/** Lists tests that wait longer than they compute, and judge no rate. They lie among those of quick. */
const quickWaiting = [
  'test/fuzz/hostile-servers.test.ts',
  'test/unit/access/http-tls.test.ts',
  'test/unit/cli/unix-socket.test.ts',
  'test/unit/envoy/{envoy-door,grpc-listener,health-and-reflection,rate-limit-service}.test.ts',
  'test/unit/envoy/xds/xds-rules.test.ts',
  'test/unit/feed/live-feed.test.ts',
  'test/unit/http/{acquire-ways,attachments,connection-bounds,live,slots}.test.ts',
  'test/unit/kafka-topic/token-source.test.ts',
  'test/unit/opentelemetry/attach.test.ts',
  'test/unit/packaging/{bundled,doors,installed}.test.ts',
  'test/unit/page/*-in-browser.test.ts',
  'test/unit/processes/child.test.ts',
  'test/unit/runtime/{backend-poller,free-groups,late-round,signed-nodes}.test.ts',
  'test/unit/services/{middlewares,slots-of-middlewares}.test.ts',
  'test/unit/strict/strict-log.test.ts',
  'test/unit/telemetry/open-metrics.test.ts',
];
const memory = ['test/unit/admission/waiters-memory.test.ts'];
const demo = ['test/integration/demo.test.ts'];
/**
 * The three of test/integration take 40 s (two MQTT brokers), 70 s, and a JVM of Pulsar more than npm test has;
 * test/unit/http/pulsar-routes.test.ts replays that client's requests.
 */
const long = [
  'test/long/**/*.test.ts',
  'test/integration/{mqtt-cluster,pools-embedded,pulsar-admin}.test.ts',
  // The judge of a run of chaos, and the figures of the race: nothing of npm test uses them.
  'test/unit/{chaos,race}/*.test.ts',
];
const longComputing = [
  'test/unit/{chaos,race}/*.test.ts',
  'test/long/{account,accuracy,agreed-pool,capacity-page,fuzz,keys-at-random,keys-middlewares,replay-stream,scenarios}.test.ts',
  'test/long/{slow-clients,small-quotas,strict,strict-keys,swarm,tokens,tokens-strategies,tokens-swarm}.test.ts',
];
const longWaiting = [
  'test/integration/pulsar-admin.test.ts',
  'test/long/{batch-storm,bullmq,embedded-growth,embedded-kill,five-per-minute,kafka-start-alone,kafka-topic-*}.test.ts',
  'test/long/{older-frameworks,played-pages,registry-changes,registry-kills,signed-rollout,slots-killed,soak}.test.ts',
];
const longStories = [
  'test/integration/pools-embedded.test.ts',
  'test/long/{batch-consumer-kafka,cluster,cut-off-redis,demo-killed,hot-halved,hot-reloads,kafka-recording,keys}.test.ts',
  'test/long/{outage-kafka,outage-redis,pools-kafka,pools-redis,registry-processes,saturated-backend,shadow-cluster}.test.ts',
  'test/long/{envoy-quota,envoy-ratelimit,envoy-two-nodes,story,tokens-live}.test.ts',
];
const globalSetup = ['test/kafka/global-setup.ts'];

/** What takes longest, the longest of each group first. Vitest knows that of its last run only, and puts small files last in a fresh clone. */
const LONGEST = [
  // quick
  ...['test/fuzz/fuzz.test.ts', 'test/simulation/tokens/adversaries.test.ts', 'test/simulation/tokens/small-quotas.test.ts'],
  ...['test/simulation/swarm.test.ts', 'test/simulation/accuracy.test.ts', 'test/unit/keys/remote-keys.test.ts'],
  ...['test/unit/admission/come-back-as-told.test.ts', 'test/property/tokens/token-worlds.test.ts'],
  ...['test/unit/demo/virtual-demonstration.test.ts', 'test/simulation/strict.test.ts', 'test/simulation/keys.test.ts'],
  ...['test/simulation/tokens/costs.test.ts', 'test/simulation/tokens/strategies.test.ts', 'test/unit/admission/full-tables.test.ts'],
  ...['test/property/registry-laws.test.ts', 'test/property/tokens/account.test.ts', 'test/unit/recommend/recommend.test.ts'],
  ...['test/unit/core/usage-map/row-bounds.test.ts', 'test/unit/demo/virtual-story.test.ts', 'test/unit/keys/newcomer.test.ts'],
  // stories, outages, and what waits beside them: two that load a cluster at once
  ...['test/integration/outage-kafka.test.ts', 'test/integration/cluster-kafka.test.ts'],
  ...['test/conformance/redis-topic.test.ts', 'test/integration/redis-topic-forgets.test.ts', 'test/integration/redis-topic-failover.test.ts'],
  ...['test/integration/hot-reloads.test.ts', 'test/integration/sim-live.test.ts', 'test/conformance/embedded-topic.test.ts'],
  ...['test/integration/kafka-partitions.test.ts', 'test/unit/admission/batches.test.ts', 'test/integration/kafka-topic-settings.test.ts'],
  ...['test/unit/topic/embedded-folder.test.ts', 'test/unit/runtime/reload/yaml-comparison.test.ts'],
  ...['test/integration/enforce-example.test.ts', 'test/unit/admission/told-when-to-come-back.test.ts'],
  ...['test/integration/kafka-topic-cost.test.ts'],
  // processes
  ...['test/conformance/kafka-topic.test.ts', 'test/integration/packed.test.ts', 'test/integration/slots-nodes.test.ts'],
  ...['test/integration/budget-nodes.test.ts', 'test/integration/kafka-topic-security.test.ts'],
  ...['test/unit/admission/ways-to-take.test.ts', 'test/integration/mqtt-broker.test.ts', 'test/integration/strict-nodes.test.ts'],
  ...['test/unit/cli/pipe-end.test.ts', 'test/envoy/rate-limits.test.ts', 'test/integration/hostile-connections.test.ts'],
  ...['test/integration/embedded-two-nodes.test.ts', 'test/integration/examples.test.ts', 'test/integration/embedded-keys.test.ts'],
  ...['test/integration/examples-of-services.test.ts', 'test/integration/embedded-clock-step.test.ts'],
  ...['test/integration/embedded-full-disk.test.ts', 'test/envoy/guide.test.ts', 'test/integration/embedded-containers.test.ts'],
  ...['test/integration/embedded-idle.test.ts', 'test/unit/cli/operate.test.ts', 'test/unit/cli/run.test.ts'],
  // quick-waiting
  ...['test/unit/page/live-page-in-browser.test.ts', 'test/unit/http/attachments.test.ts', 'test/fuzz/hostile-servers.test.ts'],
  ...['test/unit/page/page-in-browser.test.ts', 'test/unit/packaging/doors.test.ts', 'test/unit/services/middlewares.test.ts'],
  ...['test/unit/access/http-tls.test.ts', 'test/unit/cli/unix-socket.test.ts', 'test/unit/feed/live-feed.test.ts'],
  ...['test/unit/http/connection-bounds.test.ts', 'test/unit/opentelemetry/attach.test.ts'],
  ...['test/unit/envoy/grpc-listener.test.ts', 'test/unit/kafka-topic/token-source.test.ts', 'test/unit/http/slots.test.ts'],
  // npm run test:long
  ...['test/long/accuracy.test.ts', 'test/long/swarm.test.ts', 'test/long/tokens-swarm.test.ts', 'test/long/tokens.test.ts'],
  ...['test/long/soak.test.ts', 'test/long/registry-kills.test.ts', 'test/long/embedded-kill.test.ts'],
];

/**
 * Tests import src/ and sim/, and get what the build has made of them, as Node loads it: that is what runs in production. Through vitest's own
 * modules every call of an imported function goes through a getter, and what computes took two and a half times as long.
 */
const BUILT: Plugin = {
  name: 'built',
  enforce: 'pre',
  resolveId(source, importer) {
    if (!source.startsWith('.') || importer === undefined) return null;
    const place = relative(import.meta.dirname, resolve(dirname(importer), source));
    if (!/^(src|sim)\/.*\.js$/.test(place)) return null;
    return { id: join(import.meta.dirname, 'dist', place), external: true };
  },
};

type TestOptions = NonNullable<TestProjectInlineConfiguration['test']> & { readonly name: string };

function project(options: TestOptions): TestProjectInlineConfiguration {
  return {
    plugins: [BUILT],
    test: {
      ...common,
      // One module graph per worker: half of the time went into loading it anew for every file.
      isolate: false,
      setupFiles: ['test/real-globals.ts'],
      ...groupOf(options.name),
      server: { deps: { external: [/\/dist\/(bin|src|sim)\//] } },
      ...options,
    },
  };
}

/** Files of one project stand together: vitest ends a worker where the next file in line is of another one. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.indexOf(relative(import.meta.dirname, moduleId));
      return at === -1 ? LONGEST.length : at;
    };
    const turn = ({ project }: TestSpecification) => PROJECTS.indexOf(project.name);
    return (await super.sort(files)).sort((one, other) => turn(one) - turn(other) || place(one) - place(other));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // A second run makes JavaScript only of the tests that have changed.
    experimental: { fsModuleCache: true },
    projects: [
      project({
        name: 'quick',
        include: ['test/**/*.test.ts'],
        // Virtual time: a shorter one would judge what else the machine does.
        testTimeout: 600_000,
        exclude: [...quickWaiting, ...memory, ...stories, ...processes, ...long],
      }),
      project({ name: 'quick-waiting', include: quickWaiting, testTimeout: 60_000 }),
      // Files before it leave a heap, and code that is optimized for their objects.
      project({ name: 'memory', include: memory, isolate: true, testTimeout: 60_000 }),
      project({ name: 'stories', include: stories, testTimeout: 60_000, globalSetup }),
      project({
        name: 'processes',
        include: processes,
        exclude: [...stories, ...demo, ...long],
        testTimeout: 60_000,
        globalSetup,
      }),
      project({ name: 'demo', include: demo, testTimeout: 60_000 }),
      project({
        name: 'long',
        include: long,
        testTimeout: 1_200_000,
        globalSetup,
        exclude: [...longComputing, ...longWaiting, ...longStories],
      }),
      project({ name: 'long-computing', include: longComputing, testTimeout: 1_200_000 }),
      project({ name: 'long-waiting', include: longWaiting, testTimeout: 1_200_000, globalSetup }),
      project({ name: 'long-stories', include: longStories, testTimeout: 1_200_000, globalSetup }),
    ],
  },
});
