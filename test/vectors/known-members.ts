/**
 * Every member that the runners know, by file and kind (or group) of case, and of steps by operation. Nothing in a file may be passed over
 * in silence: what a runner does not know it rejects by path and name. `*` stands for names that a case chooses itself.
 */
export interface KnownCases {
  /** The member that tells cases apart; null where all are alike. */
  readonly by: 'kind' | 'group' | null;
  readonly members: Readonly<Record<string, string>>;
  /** Members beside `op`, by kind/operation. */
  readonly operations: Readonly<Record<string, string>>;
}

/** What only explains: README.md of the vectors. */
export const EXPLAINS = 'note differs upstream upstreamTest upstreamName upstreamDefect baselineOnly optional origin';

export const KNOWN_CASES: Readonly<Record<string, KnownCases>> = {
  'token-bucket.json': {
    by: 'kind',
    members: {
      bucket:
        'beyondSafeInteger id kind params params.addResolutionMs params.capacity params.initialTokens ' +
        'params.periodMs params.ratePerPeriod steps steps[].call steps[].everyNth steps[].everyNth.n ' +
        'steps[].everyNth.steps steps[].exactMs steps[].max steps[].min steps[].ms steps[].need steps[].op ' +
        'steps[].steps steps[].times steps[].tokens steps[].value steps[].values',
      publishLimiter:
        'id kind params params.bytesPerSec params.msgsPerSec params.runWakeups steps steps[].bytes ' +
        'steps[].bytesPerSec steps[].ifDebtKept steps[].ifDebtKeptWithinMs steps[].ms steps[].msgs ' +
        'steps[].msgsPerSec steps[].op steps[].order steps[].producer steps[].value',
      throttleTracker:
        'id kind steps steps[].count steps[].op steps[].readsEnabled steps[].result steps[].type ' + 'steps[].value',
      endToEnd:
        'averageTolerance finishWithinSec id kind limit limit.bytesPerSec limit.msgsPerSec limitPerSec ' +
        'members members.consumers members.producers messageBytes messages runs skipFirstSeconds steps ' +
        'steps[].bytes steps[].close steps[].detachLimit steps[].eachResolvesWithinMs steps[].producer ' +
        'steps[].resolvesWithinMs steps[].sameConnection steps[].send steps[].stillPendingAfterMs ' +
        'steps[].waitMs twoSecondMeanTolerance',
    },
    operations: {
      'bucket/advanceMs': 'ms',
      'bucket/consume': 'tokens',
      'bucket/consumeAndCheck': 'tokens value',
      'bucket/expectError': 'call tokens',
      'bucket/expectTokens': 'value',
      'bucket/expectTokensAnyOf': 'values',
      'bucket/expectTokensBetween': 'max min',
      'bucket/expectWaitMs': 'need value',
      'bucket/expectWaitNs': 'exactMs need value',
      'bucket/readTokens': '',
      'bucket/repeat': 'everyNth steps times',
      'publishLimiter/advanceMs': 'ms',
      'publishLimiter/clearMarks': '',
      'publishLimiter/expectNextWakeupAtLeastMs': 'value',
      'publishLimiter/expectNextWakeupMs': 'value',
      'publishLimiter/expectReleased': 'ifDebtKeptWithinMs order',
      'publishLimiter/expectThrottledCount': 'ifDebtKept value',
      'publishLimiter/publish': 'bytes msgs producer',
      'publishLimiter/setLimits': 'bytesPerSec msgsPerSec',
      'throttleTracker/mark': 'count readsEnabled result type',
      'throttleTracker/setChannelActive': 'value',
      'throttleTracker/unmark': 'count readsEnabled result type',
    },
  },
  'fdb-gtt.json': {
    by: 'kind',
    members: {
      equilibrium:
        'clients clients[].op clients[].pagesPerTx clients[].servers clients[].tag clients[].wantedTps ' +
        'generation id kind phases phases[].baselineSettleSec phases[].change phases[].change.removeQuotas ' +
        'phases[].change.servers phases[].change.servers[].capacityPagesPerSec ' +
        'phases[].change.servers[].server phases[].expect phases[].expect[].exact phases[].expect[].metric ' +
        'phases[].expect[].tag phases[].expect[].value quotas quotas[].reservedPagesPerSec quotas[].tag ' +
        'quotas[].totalPagesPerSec servers servers.capacityPagesPerSec servers.count servers.exceptions ' +
        'servers.exceptions[].capacityPagesPerSec servers.exceptions[].server worstZonesIgnored',
      lifecycle:
        'clients clients[].op clients[].pagesPerTx clients[].servers clients[].stopAfterSec clients[].tag ' +
        'clients[].tags clients[].wantedTps generation id kind quotas servers servers.capacityPagesPerSec ' +
        'servers.count steps steps[].atSec steps[].expectTagsTracked steps[].op',
      proxyLimiter:
        'clients clients[].batch clients[].count clients[].tag clients[].wantedTps durationSec expectReleased ' +
        'expectReleased.* id idleBeforeSec kind ratesTps ratesTps.* tolerance',
      proxyOrder: 'expectOrder id kind ratesTps requests requests.order requests.tags requests.tags.* requests.total',
      proxyTable:
        'each expectSizeAfterEach id kind repeat steps steps[].elapsedSec steps[].expectSize steps[].op ' +
        'steps[].rates steps[].tag',
      releaseWindow:
        'durationSec expectReleased id idleBeforeSec jitter kind maxIdleBudget rateTps tolerance wantedTps ' +
        'windowSec',
      topTags:
        'expectTags floorPagesPerSec id intervalSec kind maxTags requests requests[].pages requests[].tag ' +
        'sampleRate',
      latencyTable:
        'durationSec expectSize id keepMeasuringEverySec keepMeasuringEverySec.sec keepMeasuringEverySec.tags ' +
        'kind maxTags measure measureOnce',
      endToEnd:
        'actors expect expectPagesPerSec id kind measureSec otherLoadTps pagesPerRead quotaPagesPerSec ' +
        'readsPerTx tolerance wantedTpsPerActor warmUpSec',
    },
    operations: {
      'lifecycle/removeExpired': 'atSec expectTagsTracked',
      'proxyTable/addRequest': 'expectSize tag',
      'proxyTable/release': 'elapsedSec',
      'proxyTable/setRates': 'expectSize rates',
    },
  },
  'numaflow-ramp.json': {
    by: 'group',
    members: {
      table:
        'expectedGrants group id mode mode.coolDownSec mode.name mode.rampDownPercent mode.thresholdPercent ' +
        'params params.max params.min params.pods params.rampSec startEpoch steps steps[].ask steps[].deposit ' +
        'steps[].depositBefore steps[].epochDelta steps[].pool',
      single:
        'expectedGrants group id mode mode.name params params.max params.min params.pods params.rampSec steps ' +
        'steps[].ask steps[].deposit steps[].epochDelta',
      start:
        'createdAtEpoch expectedGrants group id mode mode.coolDownSec mode.name mode.rampDownPercent ' +
        'mode.thresholdPercent params params.max params.min params.pods params.rampSec shippedGrants ' +
        'startEpoch steps steps[].ask steps[].deposit steps[].epochDelta',
      handback:
        'expectedGrants group id mode mode.name params params.max params.min params.pods params.rampSec ' +
        'shippedGrants steps steps[].ask steps[].deposit steps[].epochDelta',
      parallel:
        'askEach expectedTotal group id mode mode.name parallelAsks params params.max params.min params.pods ' +
        'params.rampSec',
      waiting:
        'calls calls[].ask calls[].atMs calls[].expectAtMs calls[].expectGrant calls[].timeoutMs group id ' +
        'mode mode.name params params.max params.min params.pods params.rampSec',
      resume:
        'events events[].ask events[].epoch events[].expect events[].op events[].params events[].params.max ' +
        'events[].params.min events[].params.rampSec events[].pod events[].pods events[].sec group id mode ' +
        'mode.name params params.max params.min params.rampSec resume ttlSec',
      reader:
        'batch expectedTotal fetchesInOneSecond group id mode mode.name params params.max params.min ' +
        'params.pods params.rampSec shippedTotal',
      sample:
        'designPool expectedPool group id mode mode.coolDownSec mode.name mode.rampDownPercent ' +
        'mode.thresholdPercent params params.max params.min params.pods params.rampSec steps steps[].epoch ' +
        'steps[].use',
    },
    operations: {
      'resume/ask': 'ask epoch expect pod',
      'resume/reconfigure': 'params',
      'resume/start': 'pods',
      'resume/stop': 'pods',
      'resume/wait': 'sec',
    },
  },
  'numaflow-consensus.json': {
    by: 'group',
    members: {
      store:
        'columnsDiffer events events[].asDesigned events[].asDesigned.level events[].asDesigned.live ' +
        'events[].asDesigned.value events[].asDesigned.verdict events[].asShipped events[].asShipped.level ' +
        'events[].asShipped.live events[].asShipped.value events[].asShipped.verdict events[].asShippedMemory ' +
        'events[].asShippedMemory.level events[].asShippedMemory.live events[].asShippedMemory.value ' +
        'events[].asShippedMemory.verdict events[].callerClockSkewSec events[].level events[].node ' +
        'events[].op events[].report events[].sec group id ttlSec',
      loop:
        'columnsDiffer events events[].asDesigned events[].asDesigned.agreed events[].asDesigned.rounds ' +
        'events[].asDesigned.strandedFraction events[].asShipped events[].asShipped.agreed ' +
        'events[].asShipped.rounds events[].asShipped.strandedFraction events[].live events[].n ' +
        'events[].nodes events[].op events[].sec group id roundMs ttlSec',
    },
    operations: {
      'loop/advance': 'sec',
      'loop/crash': 'nodes',
      'loop/join': 'nodes',
      'loop/leave': 'nodes',
      'loop/rounds': 'n',
      'loop/settle': 'asDesigned asShipped live',
      'store/advance': 'sec',
      'store/leave': 'level node',
      'store/register': 'asDesigned asShipped asShippedMemory node',
      'store/sync': 'asDesigned asShipped asShippedMemory callerClockSkewSec node report',
    },
  },
  'pip82.json': {
    by: 'kind',
    members: {
      allocation:
        'excess expectedLimits expectedLimits.* expectedSum id kind quota reductions reductions.* ' +
        'roundedInText roundedInText.* rule shareOfUnused shareOfUnused.* unused usage usage.*',
      steal:
        'expectedLimits expectedLimits.* expectedPairs id kind limits limits.* quota rule saturated usage ' + 'usage.*',
      closedLoop:
        'change change.join change.leave change.quota change.round demand demand.* demandPerTopic ' +
        'expectedFinal expectedFinal.* expectedTotal id kind maxRounds members neverFalls quota startLimits ' +
        'startLimits.* tolerance topics',
      reporting:
        'constantUsage departed entries entries.* entries.*.publishedBytes entries.*.publishedMsg ' +
        'entries.*.topics expectedEntries expectedKnown expectedSendRounds groupsAttached groupsWithTraffic ' +
        'id kind lastReported n reports reports[].from reports[].stale reports[].usage rounds send ' +
        'send[].expected send[].usage sender threshold',
      budget:
        'bytesPerUsage bytesPerUsageBothClasses deliveredPerIntervalAllMembers id interval kind ' +
        'memberNameBytes members membersPerNamespace memoryPerMember memoryPerMember.exact ' +
        'memoryPerMember.inText nameBytesInMemory namespaceNameBytes namespaces namespacesPerMember pass ' +
        'publishedNameBytes publishedPerIntervalAllMembers publishedUsageBytes usageBytesInMemory',
    },
    operations: {},
  },
  'pulsar-calculator.json': {
    by: null,
    members: {
      case:
        'configured expected id own periodSec relation relation.quotaGreaterThan relation.quotaLessThan ' +
        'relation.ratio relation.ratioToCase relation.value threshold unit usages variant',
    },
    operations: {},
  },
  'report-suppression.json': {
    by: null,
    members: {
      case:
        'bytes bytes.current bytes.lastReported expected id msSinceLastReport msgs msgs.current ' +
        'msgs.lastReported params params.maxSuppressRounds params.periodSec params.tolerancePercent variant',
    },
    operations: {},
  },
};
