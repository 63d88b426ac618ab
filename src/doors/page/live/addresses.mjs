export function groupHref(group, direction) {
  return `#/group/${encodeURIComponent(group)}/${direction}`;
}

export function whyHref(group, direction) {
  return `#/why/${encodeURIComponent(group)}/${direction}`;
}

/** Encodes like src/config/setting/path-segment.ts: browsers take `.` and `..` for steps, also encoded. */
function segmentOf(name) {
  const encoded = encodeURIComponent(name);
  const isStep = /^(?:\.|%(?:25)*2e){1,2}$/i.test(name);
  return isStep ? encodeURIComponent(encoded.replaceAll('.', '%2E')) : encoded;
}

/** The group in the API. */
export function pathOf(group) {
  return `/v1/groups/${segmentOf(group)}`;
}

export function pathOfKey(key) {
  return `/v1/keys/${segmentOf(key)}`;
}

export function pathOfTemplate(template) {
  return `/v1/key-templates/${segmentOf(template)}`;
}
