/** Makes an element. Names and texts of strangers go into it as text only. */
export function make(tag, { className, text, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  if (className !== undefined) made.className = className;
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function spanOf(className, text) {
  return make('span', { className, text });
}

/** Writes only what differs: a text that is written again would be read out again. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
