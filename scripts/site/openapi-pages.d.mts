/** A page per tag of an OpenAPI description, and one that lists all operations. */
export function openapiPages(description: object): ReadonlyMap<string, string>;
