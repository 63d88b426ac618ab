/** The page of a group. */
export function groupHref(group, direction) {
  return `#/group/${encodeURIComponent(group)}/${direction}`;
}

/** Why a request of a group is refused. */
export function whyHref(group, direction) {
  return `#/why/${encodeURIComponent(group)}/${direction}`;
}

/** The group in the API. */
export function pathOf(group) {
  return `/v1/groups/${encodeURIComponent(group)}`;
}

/** The key in the API. */
export function pathOfKey(key) {
  return `/v1/keys/${encodeURIComponent(key)}`;
}

/** The template of keys in the API. */
export function pathOfTemplate(template) {
  return `/v1/key-templates/${encodeURIComponent(template)}`;
}
