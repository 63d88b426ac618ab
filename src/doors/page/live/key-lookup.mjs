import { make, say } from '../browser/elements.mjs';
import { rate } from '../browser/figures.mjs';
import { pathOfKey } from './addresses.mjs';
import { askJson } from './ask.mjs';
import { textOf } from './wording.mjs';

export function keyLookup() {
  const name = make('input', { type: 'text', placeholder: 'key:customer-17', 'aria-label': 'Name of a key' });
  const answer = make('p', { className: 'hint', role: 'status' });
  const button = make('button', { type: 'submit', className: 'plain', text: 'Look up' });
  const form = make('form', { className: 'tools' }, name, button, answer);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const found = await askJson(pathOfKey(name.value)).catch((error) => error);
    say(answer, found instanceof Error ? textOf(found) : keyText(found));
  });
  return form;
}

function keyText({ template, silent, leftUnpublished, group, reports }) {
  if (!silent && !isUsedHere(group)) {
    const nodes = [...reports.publish, ...reports.dispatch].map(({ nodeId }) => nodeId);
    return `It is a group like any other, in use at ${[...new Set(nodes)].join(', ')}: their pages show it.`;
  }
  if (!silent)
    return `It is a group like any other: ${rate(group.directions.publish.quota.messagesPerSecond)} messages per second for publish.`;
  const left = Object.entries(leftUnpublished).map(
    ([direction, { messages }]) => `${rate(messages)} messages of ${direction}`,
  );
  const others = reports.publish.concat(reports.dispatch).filter(({ self }) => !self);
  const names =
    others.length === 0 ? '' : ` In use at ${[...new Set(others.map(({ nodeId }) => nodeId))].join(', ')}, too.`;
  return `Template ${template}. This node may still spend ${left.join(' and ')} of it unpublished.${names}`;
}

function isUsedHere(group) {
  return Object.values(group?.directions ?? {}).some(({ local }) => local.served);
}
