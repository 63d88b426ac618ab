import type { Baseline, Quota } from '../baseline.js';
import { BaselineCluster } from '../baseline-cluster.js';
import { MessageBus } from '../message-bus.js';
import type { SimulatedProcess } from '../simulated-process.js';
import { Broker, type BrokerRules, type UsageMessage } from './broker.js';
import { asForked, asReleased } from './quota-calculator.js';
import { MAX_SUPPRESS_ROUNDS, suppressAsForked, suppressAsReleased } from './report-suppression.js';

/** Default period; shorter ones have a column of their own. */
const DEFAULT_PERIOD_SEC = 60;

/** Models Pulsar's resource groups, releases 2.8 to 5.0 (docs/background/pulsar-resource-groups.md). */
export function pulsar(name: string, periodSec = DEFAULT_PERIOD_SEC): Baseline {
  const rules = { calculate: asReleased, suppress: suppressAsReleased, forgetReportMs: Infinity, periodSec };
  return brokers(name, `Apache Pulsar as released: quota · own usage ÷ usage, every ${periodSec} s`, rules);
}

/**
 * Models the vendor fork, which forgets silent brokers. It does so after 2 · period · rounds, 600 s by default. Its
 * later code seems to forget living ones too: left out, in its favour.
 */
export function pulsarFork(name: string, periodSec = DEFAULT_PERIOD_SEC): Baseline {
  const forgetReportMs = 2000 * periodSec * MAX_SUPPRESS_ROUNDS;
  const rules = { calculate: asForked, suppress: suppressAsForked, forgetReportMs, periodSec };
  return brokers(name, `Pulsar's vendor fork: idle brokers get the whole quota, every ${periodSec} s`, rules);
}

function brokers(name: string, says: string, rules: BrokerRules): Baseline {
  return {
    name,
    says,
    create: (environment) => {
      const bus = new MessageBus<UsageMessage>(environment);
      const create = (process: SimulatedProcess, quota: Quota) => new Broker(process, quota, bus, rules, environment);
      return new BaselineCluster(name, environment, bus, create);
    },
  };
}
