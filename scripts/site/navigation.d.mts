export interface Section {
  readonly text: string;
  readonly says?: string;
  readonly isClosed?: boolean;
  /** Title and path of each page. */
  readonly pages: readonly (readonly [string, string])[];
}

/** The sections of the site, of pages that are there: path → title. */
export function navigationOf(pages: ReadonlyMap<string, string>): readonly Section[];
