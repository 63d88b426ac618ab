/** Characters of a caller's input that an error repeats. */
export const SHOWN_MAX = 80;

/** What somebody has sent, as an error shows it: "5" is not 5, and an object may have no text of its own. */
export function show(sent: unknown): string {
  if (sent === null) return 'null';
  if (sent === undefined) return 'nothing';
  if (Array.isArray(sent)) return `an array of ${sent.length}`;
  if (typeof sent === 'object') return 'an object';
  if (typeof sent === 'string') return JSON.stringify(sent.slice(0, SHOWN_MAX));
  return typeof sent === 'bigint' ? `${sent}n` : String(sent).slice(0, SHOWN_MAX);
}
