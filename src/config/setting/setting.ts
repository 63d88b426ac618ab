import type { z } from 'zod';
import type { QuantityKind } from './quantity.js';
import type { WrittenRate } from './written-rate.js';

/**
 * One row of the settings table. Validation, defaults, environment variables, the JSON Schema and
 * docs/reference/settings.md all read it; nothing else knows a key's name, range or default.
 */
export interface Setting {
  readonly kind: SettingKind;
  /** In base units (milliseconds, bytes, per second). `null`: no value unless one is given; see `defaultText`. */
  readonly default: number | string | boolean | readonly string[] | readonly number[] | WrittenRate | null;
  /** For the docs, where the default is derived or `null` means something. */
  readonly defaultText?: string;
  /** The configuration is refused if the key is absent. */
  readonly required?: true;
  /** Bounds of a quantity, both included. */
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly string[];
  readonly pattern?: NamePattern;
  readonly of?: Entries;
  /** A rate that is kept as it was written: amount and unit of time. */
  readonly isWritten?: true;
  /** Never shown: not in messages, not by describeConfig. */
  readonly secret?: true;
  /** The text may stand in its own file: `{ file: PATH }`. */
  readonly mayBeFile?: true;
  /** The text, or that of its file, is PEM. */
  readonly isPem?: true;
  /** Remedy for a wrong value; absent = the usual sentence. */
  readonly remedy?: string;
  /** Users who would miss the setting; with none it is a constant (resolved/constants.ts). */
  readonly missedBy: string;
  /** Gain of setting it, or of a larger value … */
  readonly buys: string;
  /** … and its cost. */
  readonly costs: string;
}

/** A path, relative to the configuration file. */
export interface TextFile {
  readonly file: string;
}

export type SettingKind =
  | QuantityKind
  /** A string that matches `pattern`. */
  | 'name'
  /** Any string of 1 … 64 Ki characters. */
  | 'text'
  | 'choice'
  | 'switch'
  /** List of host:port; in the environment separated by commas. */
  | 'addresses'
  /** List of ratios; in the environment separated by commas. */
  | 'ratios'
  /** `none`, `all`, or a list of group names. */
  | 'group-selection'
  /** Mapping of node id → factor. */
  | 'weights'
  /** A list or mapping. `of` says what its entries are; a reader of its own reads them, not the section. */
  | 'entries';

export interface Entries {
  readonly schema: z.ZodType;
  /** The whole in words. */
  readonly text: string;
  /** A variable may hold it, as JSON. The other lists and mappings would be clumsy there. */
  readonly isJsonInVariable?: true;
}

export interface NamePattern {
  readonly matches: RegExp;
  readonly text: string;
}

/** Bounds node ids: they are in log lines, metric labels, Kafka client ids. So no spaces, no slashes. */
export const NODE_NAME: NamePattern = {
  matches: /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/,
  text: 'a name of 1 to 128 letters, digits and . _ : - that starts with a letter or digit',
};

/** Bounds groups' names: tenants and namespaces (`public/default`) need / @ + ~. */
export const GROUP_NAME: NamePattern = {
  matches: /^[A-Za-z0-9][A-Za-z0-9._:/@+~-]{0,199}$/,
  text: 'a name of 1 to 200 letters, digits and . _ : / @ + ~ - that starts with a letter or digit',
};

/** As the names of groups, with `*` for anything: three at most, or a long name could take long to match. */
export const GROUP_SELECTOR: NamePattern = {
  matches: /^(?=.{1,200}$)(?!(?:[^*]*\*){4})(?!.*\*\*)[A-Za-z0-9*][A-Za-z0-9._:/@+~*-]*$/,
  text: 'the name of a group, or a pattern of names with up to three * for anything',
};

export const KAFKA_TOPIC_NAME: NamePattern = {
  matches: /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/,
  text: 'a Kafka topic name (1 to 249 letters, digits and . _ -)',
};

/** Linux takes 107 bytes, macOS 103; the socket has a longer name for a moment (http/server/listener.ts). */
export const SOCKET_PATH: NamePattern = {
  matches: /^\/[\x21-\x7e]{1,94}$/,
  text: 'an absolute path of at most 95 ASCII characters without spaces',
};

export const LISTEN_ADDRESS: NamePattern = {
  matches: /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.%]{2,60}\]):\d{1,5}$/,
  text: 'an address HOST:PORT, e.g. 127.0.0.1:8081 or [::1]:8081',
};

export const HOST_NAME: NamePattern = {
  matches: /^[A-Za-z0-9._:%-]{1,253}$/,
  text: 'a host name or IP address',
};
