/** A line for each thing that a built site points to and does not have, or would load from another host. */
export function deadLinks(folder: string, base?: string): readonly string[];
