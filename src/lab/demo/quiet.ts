import { callFaults } from './call-faults.ts';
import { dataFaults } from './data-faults.ts';
import { faults } from './faults.ts';
import { gaugesOf, type Scenario, type ScenarioAlert } from './scenario.ts';
import type { ServiceName } from './shop.ts';

/** A scenario in which nothing is wrong: what an investigator must not make a fault of. */
export function quietly({ ask, service = 'frontend', alert, ...scenario }: Quiet): Scenario {
  return {
    category: 'none',
    ...scenario,
    alert: {
      title: `Check of ${service}`,
      service,
      severity: 'low',
      summary: 'No alert: somebody noticed something and asked.',
      question: ask,
      ...alert,
    },
  };
}

interface Quiet extends Omit<Scenario, 'category' | 'alert'> {
  readonly ask: string;
  /** About which somebody asks, though nothing is wrong with it. */
  readonly service?: ServiceName;
  readonly alert?: Partial<ScenarioAlert>;
}

/** Nothing is wrong: other traffic, releases, switches. */
export const quiet = {
  quiet: quietly({
    description: 'Nothing is wrong; there are only the usual small errors.',
    ask: 'A visitor saw an error page. Is anything wrong with the shop?',
    alert: { title: 'One visitor reported an error page', summary: 'One report from a visitor, no alert.' },
  }),
  'traffic-peak': quietly({
    description: 'A campaign doubles the traffic and the shop bears it: nothing is wrong.',
    ask: 'Traffic doubled. Does the shop suffer from it?',
    traffic: () => 2.1,
    gauge: ({ metric, pod, value }) =>
      metric === 'container.cpu.usage' && pod !== undefined ? value * 1.9 : undefined,
    alert: { title: 'Requests a minute twice as many as usual', summary: 'Traffic doubled within a minute.' },
  }),
  'traffic-dip': quietly({
    description: 'A holiday: less than half of the usual visitors come.',
    ask: 'We have far fewer requests than usual. Is the shop broken?',
    traffic: () => 0.4,
  }),
  'traffic-growth': quietly({
    description: 'More visitors come every minute, and all are served.',
    ask: 'Is everything well with the shop?',
    traffic: (minutes) => 1 + minutes / 20,
  }),
  'harmless-deploy': quietly({
    description: 'A release of cart that changes nothing anybody can see.',
    ask: 'cart was released a short while ago. Did it make anything worse?',
    service: 'cart',
    restarted: { services: ['cart'], patched: true },
    alert: { title: 'Check of the cart release', summary: 'cart was released; is it well?' },
  }),
  'many-deploys': quietly({
    description: 'Four services are released within a minute and are well.',
    ask: 'We released checkout, payment, ad and inventory. Is there a problem?',
    restarted: { services: ['checkout', 'payment', 'ad', 'inventory'], patched: true },
  }),
  'rolling-restart': quietly({
    description: 'The pods of product-catalog are started anew, in the same version.',
    ask: 'product-catalog was restarted. Is it well?',
    service: 'product-catalog',
    restarted: { services: ['product-catalog'], patched: false },
    gauge: gaugesOf('product-catalog', {
      'container.memory.usage': (value, minutes) => value * Math.min(1, 0.4 + minutes / 15),
    }),
  }),
} as const;

/** Nothing is wrong, though a graph or a log looks as if something were. */
export const quietSymptoms = {
  'steady-failures': quietly({
    description: 'Every tenth recommendation fails as it has for weeks; pages leave them out.',
    ask: 'recommendation shows errors. Is that new?',
    service: 'recommendation',
    always: (site, random) =>
      site.kind === 'serve' && site.pod.service === 'recommendation' && random.chance(0.1)
        ? { failure: { type: 'ModelMissing', message: 'no model for this visitor', grpc: 5 } }
        : undefined,
  }),
  'steady-failures-in-peak': quietly({
    description: 'Twice the visitors, and so twice the errors that ad always has.',
    ask: 'We see twice as many errors as an hour ago. What is wrong?',
    traffic: () => 2,
    always: (site, random) =>
      site.kind === 'serve' && site.pod.service === 'ad' && random.chance(0.06)
        ? { failure: { type: 'NoCampaign', message: 'no campaign for this category', grpc: 5 } }
        : undefined,
  }),
  'steady-slowness': quietly({
    description: 'Quotes of shipping take a third of a second, as they always have.',
    ask: 'Checkout feels slow. Did it become slower?',
    service: 'checkout',
    always: (site, random) =>
      site.kind === 'serve' && site.operation === 'POST /get-quote' ? { addMs: random.lognormal(300, 0.4) } : undefined,
  }),
  'few-outliers': quietly({
    description: 'One request in five hundred takes very long, before and now.',
    ask: 'Somebody waited ten seconds for a page. Is anything slow?',
    always: (site, random) =>
      site.kind === 'serve' && site.pod.service === 'frontend' && random.chance(0.002)
        ? { addMs: random.between(6_000, 12_000) }
        : undefined,
  }),
  'busy-batch': quietly({
    description: 'The monthly report takes all the CPU that ad leaves over; requests are answered as before.',
    ask: 'CPU of ad is very high. Do customers notice?',
    service: 'ad',
    gauge: gaugesOf('ad', { 'container.cpu.usage': (value) => value + 1.4 }),
  }),
  sawtooth: quietly({
    description: 'The memory of ad climbs for eleven minutes and is collected, again and again.',
    ask: 'The memory of ad went up. Is it a leak that hurts?',
    service: 'ad',
    gauge: gaugesOf('ad', {
      'container.memory.usage': (value, minutes) => value * (1 + 1.2 * ((minutes % 11) / 11)),
    }),
  }),
  'log-flood': quietly({
    description: 'Somebody left the warnings of checkout on: thousands of lines, and every order goes through.',
    ask: 'The log of checkout is full of warnings. Is something broken?',
    service: 'checkout',
    chatter: {
      service: 'checkout',
      severity: 'WARN',
      body: 'option legacy_rounding is still read from the environment, line',
      perMinute: 150,
    },
  }),
  'error-lines': quietly({
    description: 'The exporter of traces in shipping cannot reach a collector that was taken away.',
    ask: 'shipping logs errors. Are orders affected?',
    service: 'shipping',
    chatter: {
      service: 'shipping',
      severity: 'ERROR',
      body: 'exporting to the old collector failed: connection refused, batch',
      perMinute: 12,
    },
  }),
  bots: quietly({
    description: 'A crawler asks for product pages that do not exist: one in seven is not found.',
    ask: 'We see many 404s. Is the shop broken?',
    notFound: 0.15,
    traffic: () => 1.2,
  }),
  sale: quietly({
    description: 'A sale: three times the orders, no more visitors.',
    ask: 'checkout has three times its usual load. Does it hold?',
    service: 'checkout',
    mix: { 'POST /api/checkout': 3, 'GET /': 0.6 },
  }),
  'flag-without-effect': quietly({
    description: 'The flag express-checkout was switched on for plus customers, and works.',
    ask: 'We switched express-checkout on for plus customers. Any trouble?',
    service: 'checkout',
    expressCheckoutFor: 'plus',
  }),
  'short-blip': quietly({
    description: 'Errors of one minute when the onset was, long over: a switch was replaced.',
    ask: 'An alert fired some time ago and went away. Is anything still wrong?',
    trouble: (site, minutes, random) =>
      minutes < 0.5 && site.kind === 'serve' && site.pod.service === 'cart' && random.chance(0.3)
        ? { failure: { type: 'Unavailable', message: 'no route to host', grpc: 14 } }
        : undefined,
  }),
  'quicker-now': quietly({
    description: 'An index was added: stock is read in half the time.',
    ask: 'Something changed in inventory. For the worse?',
    service: 'inventory',
    trouble: (site) => (site.kind === 'query' && site.operation === 'SELECT stock' ? { factor: 0.5 } : undefined),
  }),
  'disk-busy': quietly({
    description: 'A backup keeps the disks of two nodes busy; nothing that serves waits for them.',
    ask: 'Disks are busy on two nodes. Who suffers?',
    gauge: ({ metric, node }) =>
      metric === 'system.disk.io_time' && (node?.name === 'shop-node-1' || node?.name === 'shop-node-2')
        ? 0.93
        : undefined,
  }),
} as const;

/** Every scenario there is; those from `quiet` on are quiet. */
export const scenarios = {
  ...faults,
  ...dataFaults,
  ...callFaults,
  ...quiet,
  ...quietSymptoms,
} as const satisfies Record<string, Scenario>;
export type ScenarioName = keyof typeof scenarios;

export function isScenario(name: string): name is ScenarioName {
  return Object.hasOwn(scenarios, name);
}
