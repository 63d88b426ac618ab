import { isMapping } from '../../base/input/mapping.js';

/** Members that a command reads, each with a value of its kind; null is no kind, and a list has one item or none. */
export type SampleOf<Answer> = Answer extends string
  ? string
  : Answer extends number
    ? number
    : Answer extends boolean
      ? boolean
      : Answer extends readonly (infer Item)[]
        ? readonly [SampleOf<Item>?]
        : { readonly [Name in keyof Answer]?: SampleOf<NonNullable<Answer[Name]>> };

/** Tests for an answer with the sample's members. *Why:* schemas take longer to load than most commands. */
export function isLike(answer: unknown, sample: unknown): boolean {
  if (Array.isArray(sample)) {
    return Array.isArray(answer) && (sample.length === 0 || answer.every((item) => isLike(item, sample[0])));
  }
  if (!isMapping(sample)) return typeof answer === typeof sample;
  return isMapping(answer) && Object.entries(sample).every(([name, member]) => isLike(answer[name], member));
}
