import { section } from '../setting/section.js';

/** Which place belongs to which group (docs/operate/administration.md). What is attached at run time is laid over it, place by place. */
export const ATTACHMENTS = section({
  places: {
    kind: 'places',
    default: null,
    defaultText: 'none',
    buys: 'Acquires may name tenant, namespace and topic; PIP-82 attaches tenants and namespaces.',
    costs: 'Three look-ups per acquire that names no group. All nodes must be configured alike.',
  },
  rules: {
    kind: 'attachment-rules',
    default: null,
    defaultText: 'none',
    buys: 'Groups by patterns of tenant, namespace, topic, client identity and headers, before all places.',
    costs: 'A rule is looked at per acquire until one matches. At run time they cannot be changed.',
  },
});
