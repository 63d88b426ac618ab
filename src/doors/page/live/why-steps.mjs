import { rate } from '../browser/figures.mjs';
import { duration, exceeds, perSecond } from './wording.mjs';

/** Names the rule of Envoy behind a group or template. */
export function ruleSteps(rule) {
  if (rule == null) return [];
  return [{ title: `A rule of Envoy: ${rule.place}`, says: `${rule.domain}: ${rule.descriptor}`, state: 'note' }];
}

/**
 * Lists the steps of a decision in the node's order. Each has the numbers of this moment; then what would let the
 * request pass. Nothing here touches the page.
 *
 * @param explanation what GET /v1/groups/{group}/explain says of the direction
 * @returns steps of { title, says, state }, whether it passes, and how it would
 */
export function stepsOf({ explanation, group, ready, amount, dimension, maxRequest }) {
  const { local, clusterBucket, strict = null } = explanation;
  if (strict !== null && dimension === 'messages') {
    return strictStepsOf({ explanation, strict, group, ready, amount, maxRequest });
  }
  const key = `${dimension}PerSecond`;
  const bucket = clusterBucket?.[dimension] ?? null;
  const steps = [
    ...ruleSteps(group.rule),
    readiness(ready),
    ...slotSteps(group.slots),
    ...budgetSteps(group.budget, amount, dimension),
    quotaStep(explanation, key, dimension),
    targetStep(explanation, key, dimension),
    divisionStep(explanation, group, key, dimension),
    shareStep(explanation, key, dimension),
    ...(bucket === null ? [] : [bucketStep(bucket)]),
    sizeStep(amount, maxRequest, dimension),
    tokensStep(local, amount, dimension),
  ];
  const stopped = steps.find(({ state }) => state === 'stop');
  return {
    steps,
    passes: stopped === undefined,
    advice:
      stopped === undefined
        ? []
        : (stopped.advice ?? adviceOf(explanation, { amount, dimension, key, ready, maxRequest })),
  };
}

/** Lists the steps of a strict group: no share decides, but what the log has granted to this node. */
function strictStepsOf({ explanation, strict, group, ready, amount, maxRequest }) {
  const { because, pool, depth, held, roundTripMs } = strict;
  const others = `${rate(pool)} of ${rate(depth)} wait in the log for whoever asks.`;
  const here =
    held >= amount
      ? { title: `Held here: ${rate(held)}`, says: `They are of this node alone. ${others}`, state: 'go' }
      : { title: `Held here: ${rate(held)}`, says: `${rate(amount - held)} too few. ${others}`, state: 'stop' };
  const known =
    because === ''
      ? { title: 'The strict bucket is known', says: 'Nothing above one bucket is admitted anywhere.', state: 'go' }
      : { title: 'This node cannot know what it may admit', says: `${because}.`, state: 'stop' };
  const steps = [
    ...ruleSteps(group.rule),
    readiness(ready),
    ...slotSteps(group.slots),
    ...budgetSteps(group.budget, amount, 'messages'),
    quotaStep(explanation, 'messagesPerSecond', 'messages'),
    known,
    sizeStep(amount, maxRequest, 'messages'),
    here,
  ];
  const wait = `Wait ${duration(Math.max(50, 2 * roundTripMs))}: a round trip to the log brings what others do not need (HTTP does so by itself).`;
  const passes = steps.every(({ state }) => state !== 'stop');
  const advice = because === '' && held < amount && pool + held >= amount ? [wait] : [];
  const stopped = steps.find(({ state }) => state === 'stop');
  return { steps, passes, advice: passes ? [] : (stopped?.advice ?? advice) };
}

/** Tells of the slots of a group with concurrency: a request takes one before its tokens. */
function slotSteps(slots) {
  if (slots == null) return [];
  const { because, limit, inUse, free, waiting } = slots;
  if (because !== '') return [{ title: 'This node cannot know its slots', says: `${because}.`, state: 'stop' }];
  const title = `Slots free: ${rate(free)} of ${rate(limit)}`;
  const line = waiting > 0 ? `, and ${rate(waiting)} wait` : '';
  const says = `${rate(inUse)} requests run here${line}. A request holds one until it ends.`;
  const advice = ['Wait until a request ends (waitMs does so by itself), or raise concurrency.'];
  return [{ title, says, ...(free > 0 ? { state: 'go' } : { state: 'stop', advice }) }];
}

/** Tells of the budget of a group: what nobody has spent of its period. */
function budgetSteps(budget, amount, dimension) {
  if (budget == null) return [];
  const { because, unit, per, limit, remaining, held, until } = budget;
  // Tokens and cents are asked for beside messages and bytes.
  const isBeside = unit === 'tokens' || unit === 'cents';
  if (!isBeside && unit !== dimension) return [];
  if (because !== '')
    return [{ title: 'This node cannot know what is left of the budget', says: `${because}.`, state: 'stop' }];
  const title = `Budget left: ${rate(remaining)} of ${rate(limit)} ${unit} per ${per}`;
  const end = until === null ? 'It never begins anew.' : `It begins anew at ${until}.`;
  const says = `Nodes hold ${rate(held)} of it. ${end}`;
  const advice = [
    `${until === null ? 'Raise' : `Wait until ${until}, raise`} the budget, or give it some: quotamesh budget top-up.`,
  ];
  return [
    {
      title,
      says,
      ...((isBeside ? remaining > 0 : remaining >= amount) ? { state: 'go' } : { state: 'stop', advice }),
    },
  ];
}

function readiness(ready) {
  return ready
    ? { title: 'The node decides', says: 'It has read the log and knows its shares.', state: 'go' }
    : { title: 'The node does not decide', says: 'Whatever is asked is refused until it is ready.', state: 'stop' };
}

function quotaStep({ quota, quotaAsWritten }, key, dimension) {
  if (quota[key] === null)
    return { title: 'No quota', says: `Nothing limits ${dimension} of this direction.`, state: 'go' };
  const written = Object.entries(quotaAsWritten)
    .filter(([name, value]) => value !== 0 || !name.startsWith('reserved'))
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');
  const state = quota[key] === 0 ? 'stop' : 'go';
  return { title: `Quota of the cluster: ${perSecond(quota[key], dimension)}`, says: `As written: ${written}.`, state };
}

function targetStep({ inForce, binding, ramp, limiting }, key, dimension) {
  const target = inForce[key];
  const because =
    {
      messages: 'the quota of messages is what binds',
      cost: 'the quota of cost is what binds',
      limiting: `backend ${limiting.deciding?.backend ?? ''} holds it below the quota`,
      reserved: 'backends are saturated, and this much is reserved',
      minimum: 'backends are saturated, and this much is never taken away',
      unlimited: 'nothing binds',
    }[binding] ?? `${binding} binds`;
  const climbing = ramp === null ? '' : ` A ramp is ${ramp.state} at ${rate(ramp.ceiling)}/s.`;
  return {
    title: `Shared now: ${perSecond(target, dimension)}`,
    says: `${because[0].toUpperCase()}${because.slice(1)}.${climbing}`,
    state: target === 0 ? 'stop' : 'go',
  };
}

function divisionStep({ demand, usage, inForce }, { strategy, gate }, key, dimension) {
  const wanted = demand[key];
  const isOver = exceeds(wanted, inForce[key]);
  const how = isOver ? 'That is more than there is' : 'That is no more than there is';
  const divides = gate === null ? 'and all take from one bucket' : `and each node limits its own share (${gate})`;
  const says = `All nodes want ${perSecond(wanted, dimension)} and are admitted ${perSecond(usage[key], dimension)}. ${how}; strategy ${strategy} divides it, ${divides}.`;
  return { title: isOver ? 'More is wanted than there is' : 'There is enough for all', says, state: 'go' };
}

function shareStep({ local }, key, dimension) {
  const { share, link, served } = local;
  const says = served
    ? 'That is what is enforced here.'
    : 'Nobody has used the group at this node yet: this is what it would have.';
  const cut =
    link === 'linked' ? '' : ` The node is cut off from the topic (${link}), and holds less than it may have.`;
  return {
    title: `Share of this node: ${perSecond(share[key], dimension)}`,
    says: `${says}${cut}`,
    state: share[key] === 0 ? 'stop' : 'go',
  };
}

function bucketStep({ tokens, depth, setPoint, expectedPerSecond, throttled }) {
  const debt = tokens < 0 ? 'The cluster has taken more than came in, and pays it back first. ' : '';
  const held = throttled
    ? ` This node wants more than its share: it is given nothing below the set point of ${rate(setPoint)}.`
    : '';
  return {
    title: `Bucket of the cluster: ${rate(tokens)} of ${rate(depth)} tokens`,
    says: `${debt}All nodes are expected to take ${rate(expectedPerSecond)} tokens per second.${held}`,
    state: 'go',
  };
}

function sizeStep(amount, maxRequest, dimension) {
  const most = maxRequest?.[dimension];
  const isBound = typeof most === 'number';
  const text = amountText(amount, dimension);
  if (isBound && amount > most) {
    return { title: `The request is too large: ${text}`, says: `maxRequest is ${rate(most)}.`, state: 'stop' };
  }
  const says = isBound ? `It is within maxRequest of ${rate(most)}.` : 'No maxRequest bounds it.';
  return { title: `The request: ${text}`, says, state: 'go' };
}

/** Returns the tokens that a request needs: a full bucket passes a larger one, a window does not. */
function neededOf({ depth, windowMs }, amount, dimension) {
  const most = depth[dimension];
  return windowMs === 0 && most !== null ? Math.min(amount, most) : amount;
}

function tokensStep(local, amount, dimension) {
  const here = local.tokens[dimension];
  if (here === null) return { title: 'Tokens here: unlimited', says: 'Nothing has to be waited for.', state: 'go' };
  const title = `Tokens here: ${rate(here)}`;
  const needed = neededOf(local, amount, dimension);
  const enough =
    needed < amount
      ? ` At most ${rate(needed)} can be here: a larger request passes when they are, and owes the rest.`
      : '';
  if (here >= needed) {
    const left = here - amount;
    const after = left < 0 ? `${rate(-left)} are owed` : `${rate(left)} are left`;
    return { title, says: `${rate(amount)} are taken, and ${after}.${enough}`, state: 'go' };
  }
  return { title, says: `${rate(amount)} are asked for.${enough} ${rate(needed - here)} too few.`, state: 'stop' };
}

function adviceOf({ local, inForce, demand, quota }, { amount, dimension, key, ready, maxRequest }) {
  if (!ready) return ['Ask another node, or wait until this one is ready.'];
  if (quota[key] === 0) return ['The quota is 0: only another quota lets anything pass.'];
  const advice = [];
  const here = local.tokens[dimension] ?? 0;
  const most = maxRequest?.[dimension];
  if (typeof most === 'number' && amount > most) advice.push(`Ask for ${rate(most)} ${dimension} at most at once.`);
  if (here >= 1) advice.push(`Ask for ${rate(Math.floor(here))} ${dimension} now (atMost does so by itself).`);
  if (typeof most !== 'number' || amount <= most) advice.push(...waitingFor(local, { amount, dimension, key, here }));
  if (inForce[key] !== null && demand[key] > inForce[key]) {
    advice.push(
      `A quota of ${perSecond(demand[key], dimension)} would be what all nodes want now; it is ${perSecond(quota[key], dimension)}.`,
    );
  }
  return advice;
}

function waitingFor(local, { amount, dimension, key, here }) {
  const { windowMs, comesBack, depth } = local;
  if (windowMs > 0) {
    const most = depth[dimension];
    if (most !== null && amount > Math.max(1, Math.ceil(most)))
      return [`Ask for less: a window holds ${rate(most)} ${dimension}, however long is waited.`];
    return [`Wait for a window: one begins every ${duration(windowMs)} (waitMs does so by itself).`];
  }
  const perSecondHere = comesBack[key] ?? 0;
  if (perSecondHere <= 0) return [];
  const waitMs = Math.max(1, (1000 * (neededOf(local, amount, dimension) - here)) / perSecondHere);
  return [
    `Wait ${duration(waitMs)}: ${perSecond(perSecondHere, dimension)} come back here if nobody else takes any (waitMs does so by itself).`,
  ];
}

function amountText(amount, dimension) {
  return `${rate(amount)} ${amount === 1 ? dimension.slice(0, -1) : dimension}`;
}
