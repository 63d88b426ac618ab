import { make, say } from '../browser/elements.mjs';

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
