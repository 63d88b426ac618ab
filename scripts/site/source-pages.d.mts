/** Pages and pictures that the site shows, from those to begin with and whatever they link to. */
export function collectPages(
  root: string,
  begin: readonly string[],
): { readonly pages: ReadonlyMap<string, string>; readonly pictures: ReadonlySet<string> };
/** Every page of a folder, by its path from `root`. */
export function pagesBelow(root: string, folder: string): readonly string[];
export function addressOf(path: string): string;
export function titleOf(text: string): string | undefined;
