import { section } from '../setting/section.js';
import { GROUP_NAME, HOST_NAME, NODE_NAME, type Setting, SOCKET_PATH } from '../setting/setting.js';
import { LISTENER_TLS } from './access.js';

export const OUTERMOST_SETTINGS = {
  cluster: {
    kind: 'name',
    default: null,
    required: true,
    pattern: NODE_NAME,
    remedy: 'Give every node of the cluster the same name, e.g. `cluster: demo`.',
    missedBy: 'everybody',
    buys: 'The name that the nodes of one cluster share; ids on the topic are hashed with it, so clusters never mix.',
    costs: 'Nothing; renaming it starts an empty cluster.',
  },
  node: {
    kind: 'name',
    default: null,
    defaultText: 'host name-HTTP port',
    pattern: NODE_NAME,
    missedBy: 'processes that share a host name',
    buys: 'A name for logs and status. It must be unique: of two processes with one id the older one stops.',
    costs: 'An id that changes with every start leaves records behind until timing.forgetAfterMs.',
  },
  sampleIntervalMs: {
    kind: 'duration',
    default: 20,
    min: 1,
    max: 1000,
    missedBy: 'idle machines, fast quotas',
    buys: 'Less CPU for an idle node: one round (sample, report, converge) per interval.',
    costs: 'Changes are seen later; over-admission after a change lasts as much longer.',
  },
  defaultGroup: {
    kind: 'name',
    default: null,
    defaultText: 'none: unknown groups are refused with 404',
    pattern: GROUP_NAME,
    missedBy: 'callers with names of their own',
    buys: 'Requests for names that are not configured count against this group.',
    costs: 'A misspelled group name is no longer an error.',
  },
  insecure: {
    kind: 'switch',
    default: false,
    missedBy: 'closed networks',
    buys: 'Listeners open to other machines without `auth:`, for networks where nobody else is.',
    costs: 'Whoever reaches a port has every role: quotas can be used up, and looked at, by anybody.',
  },
} as const satisfies Readonly<Record<string, Setting>>;

export const HTTP = section({
  host: {
    kind: 'name',
    default: '127.0.0.1',
    pattern: HOST_NAME,
    missedBy: 'callers on other machines',
    buys: '0.0.0.0 or :: lets other machines ask this node.',
    costs: 'Needs `auth:`, or `insecure: true` (docs/operate/access.md).',
  },
  port: {
    kind: 'count',
    default: 7070,
    min: 0,
    max: 65_535,
    missedBy: 'two nodes on a machine',
    buys: 'Several nodes on one machine need different ports; 0 lets the system choose one.',
    costs: 'Port 0 is known only from the log.',
  },
  socket: {
    kind: 'name',
    default: null,
    defaultText: 'none: host and port',
    pattern: SOCKET_PATH,
    missedBy: 'sidecars',
    buys: 'HTTP on a Unix socket, in the stead of host and port: no other machine reaches it, and the system checks who opens it (docs/operate/security.md).',
    costs: 'Callers and scrapers must be on this machine and able to use a socket; without TLS.',
  },
  socketAccess: {
    kind: 'choice',
    default: 'owner',
    choices: ['owner', 'group', 'everyone'],
    missedBy: 'sidecars of another user',
    buys: 'The users who may open the socket: that of the node (mode 0600), also its group (0660), or everybody on this machine (0666).',
    costs: 'Without `auth:`, everybody who may open it has every role.',
  },
  maxConnections: {
    kind: 'count',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    missedBy: 'large fleets of callers',
    buys: 'More connections at once, and with them more waiting acquires. A newcomer beyond it takes the place of one that is idle; where none is, it is closed.',
    costs: 'About 23 KB each, at most some 64 KB, beside http.maxHeldBytes for all together (docs/decisions/0052).',
  },
  tls: LISTENER_TLS,
});

export const LOG = section({
  level: {
    kind: 'choice',
    default: 'info',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    missedBy: 'whoever looks for a fault',
    buys: 'debug and trace show every round and record.',
    costs: 'Log volume; at trace it grows with the traffic.',
  },
  targetEveryMs: {
    kind: 'duration',
    default: 0,
    defaultText: '0: never',
    min: 0,
    max: 3_600_000,
    missedBy: 'FoundationDB’s target traces',
    buys: 'One log line per group in use and interval, with every input of its target (what `explain` prints).',
    costs: 'Log volume: 5,000 groups every 5 s are 1,000 lines a second.',
  },
  decisionsFile: {
    kind: 'text',
    default: null,
    defaultText: 'none: not written',
    missedBy: 'judges of live runs',
    buys:
      'Every change of an own share as a JSON line in this file, to look at a rebalancing closely. Relative paths ' +
      'start at the folder of the configuration file.',
    costs: 'About 10 µs of the event loop per change, and disk: the file grows without bound.',
  },
});

export const METRICS = section({
  perGroup: {
    kind: 'group-selection',
    default: 'none',
    missedBy: 'dashboards per group',
    buys: 'Prometheus series per group: `all`, or a list of names and patterns (`*` is anything), e.g. [orders, acme/*]. Groups that are made at run time count as well.',
    costs: 'Up to 64 series per group and node, half a hundred as a rule: 5,000 groups are 250,000 series per node.',
  },
});
