import type { TextFile } from './setting.js';

const FILE_TEXT = { kind: 'text', mayBeFile: true, default: null } as const;
export const PEM = {
  ...FILE_TEXT,
  isPem: true,
  remedy: 'Give the PEM text, or { file: PATH } with the path of a PEM file.',
} as const;
export const SECRET = {
  ...FILE_TEXT,
  secret: true,
  remedy: 'Give a text that is not empty, or { file: PATH }.',
} as const;

/** Values of a section; files' texts stand in place of `{ file }`. */
export type TextsRead<Value> = {
  readonly [Key in keyof Value]: Value[Key] extends Readonly<Record<string, unknown>>
    ? TextsRead<Value[Key]>
    : Exclude<Value[Key], TextFile>;
};

/** Sections are there; fields with a mistake are not. */
export type Sound<Value> = {
  readonly [Key in keyof Value]: Value[Key] extends Readonly<Record<string, unknown>>
    ? Sound<Value[Key]>
    : Value[Key] | undefined;
};
