import type { NodeSettings } from '../src/config/schema/all-settings.js';
import type { GroupSection } from '../src/config/schema/groups.js';
import type { PolledBackendSettings } from '../src/config/schema/polled-backends.js';
import type { TopicKind, TopicSettings } from '../src/config/schema/topic-kinds.js';

/**
 * Types what tests write into configurations: a key that `src/config` does not know is an error of types, also in files
 * that `npm test` does not run.
 */
export type WrittenSettings = Omit<KeysOf<NodeSettings>, 'backends' | 'defaults' | 'groups' | 'topic'> & {
  readonly backends?: Readonly<Record<string, KeysOf<PolledBackendSettings>>>;
  readonly defaults?: WrittenGroup;
  readonly groups?: Readonly<Record<string, WrittenGroup>> | undefined;
  readonly topic?: WrittenTopic;
};

export type WrittenTopic = TopicKind | { readonly [Kind in TopicKind]: KeysOf<TopicSettings<Kind>> }[TopicKind];

export type WrittenGroup = KeysOf<GroupSection>;

/** Takes the keys alone: values are written in more ways than they are read. */
type KeysOf<Section> = {
  readonly [Key in keyof Section]?: NonNullable<Section[Key]> extends Mapping ? KeysOf<Section[Key]> | Plain : unknown;
};

type Mapping = Readonly<Record<string, unknown>>;
type Plain = string | number | boolean | null | readonly unknown[];
