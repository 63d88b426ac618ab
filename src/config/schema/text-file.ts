/** The row of a key that names the file of a text instead. `path` is the path of the text below its section. */
export function fileRow(path: string, costs: string) {
  return {
    kind: 'text',
    default: null,
    textOf: path.split('.').at(-1)!,
    buys: `${path} is read from this file (at most 64 KiB); relative paths start at that of the configuration file.`,
    costs,
  } as const;
}

export const READ_ONCE = 'Read once, at the start.';
export const READ_AGAIN = 'Read again when it changes.';

/** What is read of a section with such keys: the texts, and no names of files. */
export type TextsRead<Value> = {
  readonly [Key in keyof Value as Key extends `${infer Text}File`
    ? Text extends keyof Value
      ? never
      : Key
    : Key]: Value[Key] extends Readonly<Record<string, unknown>> ? TextsRead<Value[Key]> : Value[Key];
};
