import { timeChart } from '../browser/chart.mjs';
import { make, spanOf } from '../browser/elements.mjs';
import { clockTime } from './wording.mjs';

export function card(title, ...children) {
  return make('section', { className: 'card' }, make('h2', { text: title }), ...children);
}

/** Wraps what is wider than its place: keys scroll it, too. */
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

/** Puts cards beside what a view shows. */
export function split(shown, ...aside) {
  return make('div', { className: 'split' }, make('div', {}, shown), make('div', { className: 'aside' }, ...aside));
}

/** The cell that names a row; `note` stands behind the name in small letters. */
export function rowName(note, ...name) {
  return make('th', { scope: 'row', className: 'name' }, ...name, note === '' ? null : spanOf('hint', ` ${note}`));
}

/** Adds a chart of the last minutes, and draws it. */
export function addChart(host, { title, hint = '', isWide = false, ...options }) {
  const chart = make('div');
  const caption = make('figcaption', {}, spanOf('title', title), hint === '' ? null : spanOf('hint', hint));
  host.append(make('figure', { className: isWide ? 'wide' : '' }, caption, chart));
  return timeChart({
    host: chart,
    label: title,
    timeText: clockTime,
    timeSpace: 76,
    onZoom: () => undefined,
    ...options,
  });
}

/** Fields for the rates that a quota has, by their names. */
export function rateFields(quota) {
  const names = Object.keys(quota).filter((name) => /^(messages|bytes)Per/.test(name));
  return (names.length === 0 ? ['messagesPerSecond'] : names).map((name) => {
    return [name, make('input', { type: 'text', inputmode: 'decimal', value: String(quota[name] ?? '') })];
  });
}

const TYPED_AFTER_MS = 250;

/** A form for a change. `onTyped` is called when typing is over; `undoing` is hidden at first. */
export function changeForm(labels, { onTyped, onApply, onUndo }) {
  const applying = make('button', { type: 'submit', className: 'plain strong', text: 'Apply to the cluster' });
  const undoing = make('button', { type: 'button', className: 'plain', text: 'Undo', hidden: true });
  const told = make('p', { className: 'hint', role: 'status' });
  const tools = make('div', { className: 'tools' }, applying, undoing);
  const form = make('form', { className: 'change' }, ...labels, tools, told);
  let typing;
  form.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(onTyped, TYPED_AFTER_MS);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onApply();
  });
  undoing.addEventListener('click', onUndo);
  return { form, applying, undoing, told };
}

export function choice(names, chosen) {
  const options = names.map((name) => make('option', { value: name, text: name, selected: name === chosen }));
  return make('select', {}, ...options);
}
