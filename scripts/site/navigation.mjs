/**
 * The pages of the site in the order of what a reader needs. A page that is not there is left out, and a page of docs/
 * that is named nowhere stands at the end of the section that takes the rest of its folder: who writes a page changes
 * nothing here. A path without ending is that of a page of docs/.
 */
const SECTIONS = [
  {
    text: 'Start',
    says: 'From an empty folder to a quota per API key in a service of your own.',
    pages: [
      ['Five minutes', 'guide/start'],
      ['How it works', 'guide/how-it-works'],
      ['Two nodes on a laptop', 'guide/two-nodes'],
      ['What it is, in figures', 'README.md'],
    ],
  },
  {
    text: 'For what you have',
    says: 'API keys, a Redis, a language model, Pulsar, Kafka, MQTT: one page each, which was run.',
    pages: [
      ['A quota per API key', 'guide/keys'],
      ['Instead of Redis', 'guide/instead-of-redis'],
      ['LLM tokens', 'guide/llm-tokens'],
      ['Pulsar', 'guide/pulsar'],
      ['Kafka', 'guide/kafka-quotas'],
      ['MQTT', 'guide/mqtt'],
      ['Somebody else’s API', 'guide/outbound'],
      ['OpenTelemetry', 'guide/opentelemetry'],
    ],
  },
  {
    text: 'In your service',
    says: 'The library, middlewares, limiters that you keep, data planes that enforce by themselves.',
    pages: [
      ['The library', 'guide/embedding'],
      ['Express, Fastify, Koa, Hono, Nest', 'guide/node-services'],
      ['Behind the limiter that you have', 'guide/stores'],
      ['A broker of your own', 'guide/your-own-broker'],
      ['A data plane that enforces', 'guide/enforce'],
    ],
  },
  {
    text: 'What a group can do',
    says: 'Strategies, one bucket for the whole cluster, ramps, batches, targets that move.',
    rest: 'docs/guide',
    pages: [
      ['Which strategy', 'guide/strategies'],
      ['One bucket for the cluster', 'guide/tokens'],
      ['Batches and refunds', 'guide/batches-and-refunds'],
      ['Ramps', 'guide/ramps'],
      ['Target rates', 'guide/target-rate'],
      ['Scenarios on real processes', 'guide/live-runs'],
    ],
  },
  {
    text: 'Operate',
    says: 'Install, upgrade, back up, scale; alerts, access, and how much you need.',
    rest: 'docs/operate',
    pages: [
      ['Deployment', 'operate/deployment'],
      ['Helm', 'operate/helm'],
      ['Upgrade', 'operate/upgrade'],
      ['Back up', 'operate/back-up'],
      ['Scale', 'operate/scale'],
      ['Alerts', 'operate/alerts'],
      ['Capacity by replay', 'operate/capacity'],
      ['Replay', 'guide/replay'],
      ['A quota in the shadow', 'guide/shadow'],
      ['Groups while it runs', 'operate/administration'],
      ['When the topic is away', 'operate/when-the-topic-is-away'],
      ['Who may ask', 'operate/access'],
      ['Security', 'operate/security'],
      ['Kafka: rights and signatures', 'operate/kafka-security'],
      ['Redis as the topic', 'operate/redis'],
    ],
  },
  {
    text: 'Look it up',
    says: 'Every setting, error, metric, command and route, and the types of the library.',
    rest: 'docs/reference',
    pages: [
      ['Settings', 'reference/settings'],
      ['Commands', 'reference/commands'],
      ['HTTP', 'http/index.md'],
      ['Library', 'library/index.md'],
      ['Errors', 'reference/errors'],
      ['Metrics', 'reference/metrics'],
      ['Glossary', 'reference/glossary'],
      ['Promises', 'reference/promises'],
      ['Figures', 'reference/figures'],
      ['Accuracy', 'reference/accuracy'],
      ['The race', 'reference/race'],
    ],
  },
  {
    text: 'Contribute',
    says: 'The rooms of the source, one test, one more strategy, setting, route or metric.',
    isClosed: true,
    rest: 'docs/contribute',
    pages: [
      ['Where to begin', 'contribute/README'],
      ['Architecture', 'ARCHITECTURE.md'],
      ['Contributing', 'CONTRIBUTING.md'],
    ],
  },
  { text: 'Background', isClosed: true, rest: 'docs/background', pages: [] },
  {
    text: 'Decisions',
    isClosed: true,
    rest: 'docs/decisions',
    pages: [['All decisions', 'decisions/README']],
  },
];

/** The list of all pages, which each section of the site repeats in its own words. */
const CONTENTS = 'docs/README.md';

/** `pages`: path → title of what is there. Sections with pages only. */
export function navigationOf(pages) {
  const sections = SECTIONS.map((section) => ({ ...section, pages: section.pages.map(withWholePath) }));
  const named = new Set([CONTENTS, ...sections.flatMap((section) => section.pages.map(([, path]) => path))]);
  const unnamed = [...pages.keys()].filter((path) => !named.has(path)).sort();
  return sections
    .map(({ rest, pages: wanted, ...section }) => {
      const others = unnamed.filter((path) => rest !== undefined && path.startsWith(`${rest}/`));
      const there = wanted.filter(([, path]) => pages.has(path));
      return { ...section, pages: [...there, ...others.map((path) => [pages.get(path), path])] };
    })
    .filter(({ pages: listed }) => listed.length > 0);
}

function withWholePath([title, path]) {
  return [title, path.endsWith('.md') ? path : `docs/${path}.md`];
}
