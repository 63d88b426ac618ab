import { parse } from 'yaml';
import { GENERATED, table } from './markdown.mjs';

/** docs/operate/helm.md from the chart's values.schema.json and values.yaml, as texts. */
export function renderHelm({ schema, values }) {
  const defaults = parse(values);
  return [
    GENERATED,
    TEXT,
    table(
      ['Value', 'Default', 'Meaning'],
      rowsOf(JSON.parse(schema), '').map(({ path, description }) => {
        return [`\`${path}\``, defaultOf(path, defaults), description];
      }),
    ),
    MORE,
    '',
  ].join('\n\n');
}

const TEXT = `# Helm

Nodes of their own in Kubernetes, which services ask over the network, by two commands. The first prints a token, once,
and below it the line that lets it in:

\`\`\`sh
npx quotamesh token new --name shop --role traffic viewer
helm install quotamesh deploy/helm/quotamesh --namespace quotas --create-namespace --values values.yaml
\`\`\`

\`values.yaml\` says who may ask, where the image is, and what differs from the defaults. The line of the first command
stands below \`auth.tokens\`:

\`\`\`yaml
image: { repository: REGISTRY/quotamesh }
auth:
  tokens:
    - { name: shop, roles: [traffic, viewer], hash: "sha256:…" }
config:
  cluster: production
  topic: { kind: kafka, brokers: ["kafka:9092"], name: quotamesh-reports }
groups:
  orders:
    quota: { publish: { messagesPerSecond: 1000 } }
\`\`\`

The chart is in the package, in \`deploy/helm/quotamesh\`. Without \`auth.tokens\`, \`auth.existingSecret\` or
\`auth.insecure\` it stops and says so: nodes that other machines reach need to know who asks ([access.md](access.md)).

## Values

A value that is misspelled is a mistake (\`values.schema.json\`).`;

const MORE = `## What happens on a change

- **Groups**: \`helm upgrade\` changes the ConfigMap, and nodes have the new groups within about a minute. No pod is
  restarted. The same holds for \`auth.tokens\`.
- **\`config\`**: pods are restarted one by one, the next when the last is ready.
- **\`helm uninstall\`** takes everything away but the topic.

Kafka's rights, and what the Secret for SASL holds: [kafka-security.md](kafka-security.md). Nodes beside your services
instead: the Kustomize component \`sidecar\` ([deployment.md](deployment.md)).`;

/** What has a description, by its path; what has none is described by its parts. */
function rowsOf({ properties = {} }, before) {
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${before}${name}`;
    if (path === 'global') return [];
    return field.description === undefined ? rowsOf(field, `${path}.`) : [{ path, description: field.description }];
  });
}

/** Whole sections stand in the chart's values.yaml. */
function defaultOf(path, defaults) {
  const value = path.split('.').reduce((within, name) => within[name], defaults);
  const text = JSON.stringify(value);
  return text.length > WIDTH_MAX ? 'see values.yaml' : ['`', '`'].join(text);
}

/** In characters: a longer default would make the table as wide as two pages. */
const WIDTH_MAX = 60;
