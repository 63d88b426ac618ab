import { table } from '../docs/markdown.mjs';

/** A page per tag of an OpenAPI description, and one that lists all operations: path within http/ → markdown. */
export function openapiPages({ info, paths }) {
  const operations = Object.entries(paths).flatMap(([path, methods]) => {
    return Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation }));
  });
  const tags = [...new Set(operations.map(tagOf))];
  const pages = tags.map((tag) => [`${tag}.md`, tagPage(tag, operations)]);
  return new Map([['index.md', indexPage(info, tags, operations)], ...pages]);
}

function tagOf({ tags = ['others'] }) {
  return tags[0];
}

function nameOf({ method, path }) {
  return `${method.toUpperCase()} ${path}`;
}

function indexPage(info, tags, operations) {
  const sections = tags.flatMap((tag) => {
    const own = operations.filter((operation) => tagOf(operation) === tag);
    const rows = own.map((operation) => {
      return [`[\`${nameOf(operation)}\`](./${tag}.md#${anchorOf(operation)})`, operation.summary];
    });
    return [`## ${titled(tag)}`, table(['Route', 'What it does'], rows)];
  });
  return [
    '# HTTP',
    `${info.description} Every node prints this description of itself at \`GET /openapi.json\`; [openapi.json](/openapi.json){target="_self"} is that of version ${info.version}.`,
    ...sections,
    '',
  ].join('\n\n');
}

function tagPage(tag, operations) {
  const own = operations.filter((operation) => tagOf(operation) === tag);
  return [`# HTTP: ${tag}`, ...own.map(operationSection), ''].join('\n\n');
}

function operationSection(operation) {
  const { summary, description, parameters = [], requestBody, responses, security = [] } = operation;
  const body = requestBody?.content?.['application/json'];
  const roles = security.flatMap((way) => way.bearer ?? []);
  return [
    `## \`${nameOf(operation)}\` {#${anchorOf(operation)}}`,
    `${summary}.${roles.length === 0 ? '' : ` Role: ${roles.map((role) => `\`${role}\``).join(', ')}.`}`,
    ...(description === undefined ? [] : [description]),
    ...(parameters.length === 0 ? [] : ['**Parameters**', parameterTable(parameters)]),
    ...(body === undefined ? [] : bodyPart('Body', body.schema)),
    '**Answers**',
    answerTable(responses),
    ...Object.entries(responses).flatMap(([status, answer]) => answerFields(status, answer)),
  ].join('\n\n');
}

function parameterTable(parameters) {
  const rows = parameters.map(({ name, in: where, required, schema, description }) => {
    return [`\`${name}\``, `${where}${required ? ', needed' : ''}`, typeOf(schema), description ?? schema.description];
  });
  return table(['Name', 'Where', 'Type', 'Meaning'], withoutGaps(rows));
}

/** An array is described by what it holds. */
function bodyPart(title, schema) {
  const rows = fieldRows(schema, '');
  if (rows.length === 0) return [`**${title}**: ${typeOf(schema)}.`];
  return [`**${title}**`, table(['Field', 'Type', 'Meaning'], withoutGaps(rows))];
}

function answerTable(responses) {
  const rows = Object.entries(responses).map(([status, { description }]) => [`\`${status}\``, description]);
  return table(['Status', 'Meaning'], withoutGaps(rows));
}

/** Errors have one form, which docs/reference/errors.md says. */
function answerFields(status, { content = {} }) {
  const schema = content['application/json']?.schema;
  if (schema === undefined || !status.startsWith('2')) return [];
  const rows = fieldRows(schema, '');
  if (rows.length === 0) return [];
  const shown = table(['Field', 'Type', 'Meaning'], withoutGaps(rows));
  return [`::: details Fields of \`${status}\`\n\n${shown}\n\n:::`];
}

/** One row per field, also of what lies within it, as `a.b[].c`. */
function fieldRows(schema, before) {
  const { properties = {}, required = [], items, additionalProperties } = schema;
  if (items !== undefined) return fieldRows(items, `${before}[]`);
  const rows = Object.entries(properties).flatMap(([name, field]) => {
    const path = before === '' ? name : `${before}.${name}`;
    const needed = required.includes(name) ? ', needed' : '';
    return [[`\`${path}\``, `${typeOf(field)}${needed}`, meaningOf(field)], ...fieldRows(field, path)];
  });
  const isMap = additionalProperties?.properties !== undefined;
  return isMap ? [...rows, ...fieldRows(additionalProperties, `${before}.*`)] : rows;
}

function meaningOf({ description, default: given }) {
  const parts = [description];
  if (given !== undefined) parts.push(`Default: \`${JSON.stringify(given)}\`.`);
  return parts.filter(Boolean).join(' ');
}

function typeOf(schema = {}) {
  const { type, enum: values, const: only, anyOf, oneOf, items, minimum, maximum, maxLength } = schema;
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (values !== undefined) return values.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  const several = type === undefined ? (anyOf ?? oneOf) : undefined;
  if (several !== undefined) return [...new Set(several.map(typeOf))].join(' or ');
  if (type === 'array') return `array of ${typeOf(items)}`;
  const to = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (minimum !== undefined && to !== undefined) return `${type} ${minimum} … ${to}`;
  if (minimum !== undefined) return `${type} ≥ ${minimum}`;
  return maxLength === undefined ? (type ?? 'anything') : `${type} ≤ ${maxLength}`;
}

function withoutGaps(rows) {
  return rows.map((row) => row.map((cell) => linked(cell ?? '')));
}

/** Descriptions name pages by their path in the repository. */
function linked(text) {
  return text.replaceAll(/\bdocs\/([\w/-]+)\.md\b/g, (_, page) => `[${page.split('/').at(-1)}](/${page}.md)`);
}

function anchorOf({ method, path }) {
  const words = path.replace('*', 'any').match(/\w+/g) ?? ['routes'];
  return [method, ...words].join('-').toLowerCase();
}

function titled(tag) {
  return tag.charAt(0).toUpperCase() + tag.slice(1);
}
