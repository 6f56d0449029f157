import { gaugesOf, type Scenario } from './scenario.ts';

/** Faults between services and with what is outside; then those that meet only one pod, one country. */
export const callFaults = {
  'retry-storm': {
    description:
      'currency times out on a third of its requests, and every caller tries four times: its load multiplies.',
    category: 'dependency',
    service: 'currency',
    retries: (site) => (site.kind === 'call' && site.peer === 'currency' ? 3 : 0),
    trouble(site, _minutes, random) {
      if (site.kind !== 'serve' || site.pod.service !== 'currency') return;
      if (!random.chance(0.35)) return { addMs: random.lognormal(60, 0.5) };
      return {
        addMs: random.lognormal(420, 0.3),
        failure: { type: 'DeadlineExceeded', message: 'rates were not read in time', grpc: 4 },
      };
    },
    gauge: gaugesOf('currency', { 'container.cpu.usage': (value) => value * 3 }),
    alert: {
      title: 'Pages slower than their objective',
      service: 'frontend',
      severity: 'high',
      summary: 'Pages and orders take much longer. Hardly any fail.',
      question: 'Pages are slow, but hardly any fails. Who is the cause?',
    },
  },
  'dns-failure': {
    description: 'The resolver in the pods of checkout is broken: half of its calls to payment find no address.',
    category: 'network',
    service: 'checkout',
    trouble(site, _minutes, random) {
      if (site.kind !== 'call' || site.pod.service !== 'checkout' || site.peer !== 'payment') return;
      if (!random.chance(0.5)) return;
      return {
        addMs: random.lognormal(900, 0.3),
        failure: { type: 'DNSError', message: 'lookup payment on 10.96.0.10:53: server misbehaving', grpc: 14 },
      };
    },
    alert: {
      title: 'Half of all orders fail',
      service: 'frontend',
      operation: 'POST /api/checkout',
      severity: 'critical',
      summary: 'Customers cannot pay; payment itself shows no errors.',
      question: 'Half of the orders fail although payment looks well. What is wrong?',
    },
  },
  'certificate-expiry': {
    description: 'The client certificate that email shows to the mail gateway has expired: no message leaves.',
    category: 'configuration',
    service: 'email',
    trouble(site) {
      if (site.kind !== 'external' || site.peer !== 'api.mailgate.example') return;
      return {
        addMs: 9,
        failure: { type: 'SSLError', message: 'tls: certificate has expired or is not yet valid', http: 502 },
      };
    },
    alert: {
      title: 'No order confirmations',
      service: 'email',
      severity: 'high',
      summary: 'Customers ask for their confirmations; orders go through.',
      question: 'No confirmations are sent any more. What is the reason?',
    },
  },
  'third-party-slow': {
    description: 'The card gateway outside the shop takes over a second for each charge, and answers all of them.',
    category: 'dependency',
    service: 'payment',
    trouble(site, _minutes, random) {
      if (site.kind !== 'external' || site.peer !== 'api.cardgate.example') return;
      return { addMs: random.lognormal(1_200, 0.4) };
    },
    alert: {
      title: 'Checkout p95 above 1 s',
      service: 'checkout',
      severity: 'medium',
      summary: 'Orders take more than a second longer; none fails.',
      question: 'Checkout is slow. Is it one of our services or somebody outside?',
    },
  },
  'bad-pod': {
    description: 'shipping 0.9.0 runs on one pod as a trial and cannot book the carrier: every second order meets it.',
    category: 'deployment',
    service: 'shipping',
    deployment: '0.9.0',
    canary: true,
    trouble(site, _minutes, random) {
      if (site.kind !== 'serve' || site.pod.version !== '0.9.0' || site.operation !== 'POST /ship-order') return;
      if (!random.chance(0.7)) return;
      return { failure: { type: 'CarrierError', message: 'no tariff for carrier code', http: 500 } };
    },
    alert: {
      title: 'Checkout error rate above 5 %',
      service: 'checkout',
      severity: 'high',
      summary: 'A part of the orders fails at the last step; trying again often helps.',
      question: 'Some orders fail, and trying again often helps. What do the failing ones have in common?',
    },
  },
  'region-only': {
    description: 'The customs table of shipping has no rows for the United States: quotes for that country fail.',
    category: 'configuration',
    service: 'shipping',
    trouble(site) {
      if (site.kind !== 'serve' || site.operation !== 'POST /get-quote' || site.traits.country !== 'US') return;
      return {
        addMs: 15,
        failure: { type: 'TariffError', message: 'no customs class for this destination', http: 422 },
      };
    },
    alert: {
      title: 'Fewer orders than expected',
      service: 'frontend',
      operation: 'POST /api/checkout',
      severity: 'high',
      summary: 'A fifth of the orders is missing, and nobody in the office can make one fail.',
      question: 'We lose a part of our orders. Which customers, and where does it break?',
    },
  },
} as const satisfies Record<string, Scenario>;
