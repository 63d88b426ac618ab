import type { TextFile } from '../setting/setting.js';

/** What is read of a section whose texts may stand in files: the texts. */
export type TextsRead<Value> = {
  readonly [Key in keyof Value]: Value[Key] extends Readonly<Record<string, unknown>>
    ? TextsRead<Value[Key]>
    : Exclude<Value[Key], TextFile>;
};
