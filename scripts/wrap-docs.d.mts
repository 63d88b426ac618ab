/** The text with its paragraphs filled; the text itself where a command has generated it. */
export function wrapped(text: string): string;
/** Every markdown file that people write, from `root`. */
export function pagesOf(root: string): string[];
