import { rate } from '../browser/figures.mjs';

/** `1,000/s`, or `1.2 MB/s`; null = no quota. */
export function perSecond(value, dimension) {
  if (value === null || value === undefined) return 'no quota';
  if (dimension !== 'bytes') return `${rate(value)}/s`;
  return value >= 1e6 ? `${rate(value)}B/s` : `${rate(value)} B/s`;
}

/** Rates are smoothed: what is wanted of a quota or share and what is given differ by so much by themselves. */
export function exceeds(wanted, most) {
  return most !== null && wanted > most * 1.02;
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

/** Names a group's source: the template of a key, YAML, or a change at run time. */
export function sourceText({ template, origin, revision }) {
  if (template !== null) return `key of template ${template}`;
  return origin === 'yaml' ? 'from YAML' : `changed at run time, revision ${revision}`;
}

/** Words the node's refusal of a request, and what helps. */
export function textOf(error) {
  return error.remedy ? `${error.message}. ${error.remedy}` : error.message;
}

/** 1000 is a number, `1MiB` and `5/min` are as YAML writes them. */
export function asWritten(text) {
  const number = Number(text.replaceAll(',', ''));
  return Number.isNaN(number) ? text.trim() : number;
}
