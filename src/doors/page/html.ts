/** Holds text that is HTML already; nothing else gets into a page unescaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | readonly Html[];

/** Escapes the parts of a template literal, unless they are `Html`. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(literals.reduce((text, literal, at) => text + textOf(parts[at - 1]) + literal));
}

/** Writes JSON for a `<script>`: no `<`, and the separators U+2028 and U+2029 spelled out. */
export function jsonIn(value: unknown): Html {
  const unsafe = /[<>&\u2028\u2029]/g;
  return new Html(
    JSON.stringify(value).replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(({ text }: Html) => text).join('');
  return String(part).replace(/[&<>"']/g, (char) => ENTITIES[char]);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
