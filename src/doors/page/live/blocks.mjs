import { make } from '../browser/elements.mjs';

export function card(title, ...children) {
  return make('section', { className: 'card' }, make('h2', { text: title }), ...children);
}

/** Wraps what is wider than its place, to be scrolled by keys, too. */
export function scrolled(name, ...children) {
  return make('div', { className: 'scroll', tabindex: '0', role: 'region', 'aria-label': name }, ...children);
}

export function tableOf(titles, body, className) {
  const head = make('tr', {}, ...titles.map((text) => make('th', { scope: 'col', text })));
  return make('table', { className }, make('thead', {}, head), body);
}

export function labelled(text, field) {
  return make('label', {}, make('span', { text }), field);
}

/** A list to choose from. */
export function choice(names, chosen) {
  const options = names.map((name) => make('option', { value: name, text: name, selected: name === chosen }));
  return make('select', {}, ...options);
}
