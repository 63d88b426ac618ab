import { make, say } from '../browser/elements.mjs';
import { rate } from '../browser/figures.mjs';

/** One quota is so wide in a bar; the rest is for what is wanted beyond it. */
const QUOTA_PERCENT = 66;

/** A bar of what is admitted and wanted against a quota. `update` moves it. */
export function quotaBar() {
  const wanted = make('i', { className: 'wanted' });
  const admitted = make('i', { className: 'admitted' });
  const mark = make('i', { className: 'quota' });
  const bar = make('span', { className: 'bar-of-quota', 'aria-hidden': 'true' }, wanted, admitted, mark);
  const update = (row) => {
    const most = row.quota ?? Math.max(row.wanted, row.admitted, 1) * 1.5;
    const width = (value) => `${Math.min(100, (QUOTA_PERCENT * value) / Math.max(most, 1e-9))}%`;
    wanted.style.width = width(row.wanted);
    admitted.style.width = width(row.admitted);
    mark.style.left = `${QUOTA_PERCENT}%`;
    mark.hidden = row.quota === null;
    bar.classList.toggle('full', row.quota !== null && row.wanted > row.quota * 1.02);
  };
  return { bar, update };
}

/** `1,000/s`, or `1.2 MB/s`; null = no quota. */
export function perSecond(value, dimension) {
  if (value === null || value === undefined) return 'no quota';
  if (dimension !== 'bytes') return `${rate(value)}/s`;
  return value >= 1e6 ? `${rate(value)}B/s` : `${rate(value)} B/s`;
}

/** Figures with a name, in a row. Returns what writes them. */
export function tiles(host, names) {
  const outputs = names.map(([title, help]) => {
    const output = make('b', { text: '–' });
    const note = make('span', { className: 'hint' });
    host.append(
      make('div', { className: 'tile', title: help }, make('span', { className: 'label', text: title }), output, note),
    );
    return { output, note };
  });
  return (values) => {
    values.forEach(([text, hint = '', state = ''], at) => {
      say(outputs[at].output, text);
      say(outputs[at].note, hint);
      outputs[at].output.className = state;
    });
  };
}

export function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return '–';
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 120) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** As the clock of the reader's machine says, as in all charts. */
export function dateAndTime(date) {
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return `${day.map((part) => String(part).padStart(2, '0')).join('-')} ${clockTime(date.getTime() / 1000)}`;
}

export function clockTime(seconds) {
  const date = new Date(seconds * 1000);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

export function groupHref(group, direction) {
  return `#/group/${encodeURIComponent(group)}/${direction}`;
}
