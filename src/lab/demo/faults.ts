import { gaugesOf, type Scenario } from './scenario.ts';

/** Minutes until a leaking pod is killed. */
const leakPeriod = 13;
/** How much of its memory it has leaked by then, 0 to 1. */
const leaked = (minutes: number): number => (minutes % leakPeriod) / leakPeriod;

/** Faults of a service, of what it runs on, and of what it calls. */
export const faults = {
  'payment-errors': {
    description: 'payment 2.4.0 rejects amex cards: its new card check reads the security code as three digits.',
    category: 'deployment',
    service: 'payment',
    deployment: '2.4.0',
    trouble(site, _minutes, random) {
      if (site.kind !== 'serve' || site.operation !== 'PaymentService/Charge' || site.pod.version !== '2.4.0') return;
      if (site.traits.card !== 'amex' && !random.chance(0.03)) return;
      return {
        failure: {
          type: 'CardValidationError',
          message: `card validation failed: security code must have 3 digits (${site.traits.card})`,
          grpc: 3,
        },
      };
    },
    alert: {
      title: 'Checkout error rate above 5 %',
      service: 'checkout',
      severity: 'high',
      summary: 'Orders fail at the last step for a part of the customers.',
      question: 'Checkout fails for some customers since about half an hour. What is the cause, and who is affected?',
    },
  },
  'slow-query': {
    description: 'The index on stock was dropped by a migration: every stock look-up of inventory scans the table.',
    category: 'database',
    service: 'inventory',
    trouble(site, minutes, random) {
      if (site.pod.service !== 'inventory') return;
      if (site.kind === 'serve') return { addMs: random.lognormal(25, 0.8) };
      if (site.kind !== 'query' || site.operation !== 'SELECT stock') return;
      const factor = 60 + Math.min(minutes, 10) * 14;
      if (!random.chance(0.06)) return { factor };
      return {
        addMs: 1500,
        failure: { type: 'PSQLException', message: 'canceling statement due to statement timeout', grpc: 4 },
      };
    },
    gauge: gaugesOf('inventory', {
      'db.client.connection.pending_requests': (value) => value + 14,
      'db.client.connection.count': () => 20,
    }),
    alert: {
      title: 'p95 of product pages above 400 ms',
      service: 'frontend',
      operation: 'GET /product/{id}',
      severity: 'high',
      summary: 'Product pages and checkout are slow for everybody; a few orders fail.',
      question: 'Product pages and checkout became slow. Where is the time spent, and why?',
    },
  },
  'cache-failure': {
    description: 'The redis of recommendation refuses connections; every list is computed anew from the catalogue.',
    category: 'cache',
    service: 'recommendation',
    trouble(site) {
      if (site.kind !== 'query' || site.pod.service !== 'recommendation') return;
      return {
        addMs: 12,
        failure: { type: 'ConnectionRefusedError', message: 'connect ECONNREFUSED redis-recommendation.shop.svc:6379' },
      };
    },
    gauge({ metric, pod, value }) {
      if (metric !== 'container.cpu.usage') return;
      if (pod?.service === 'recommendation') return value * 2.6;
      if (pod?.service === 'product-catalog') return value * 1.5;
      return;
    },
    alert: {
      title: 'Home page slower than its objective',
      service: 'frontend',
      operation: 'GET /',
      severity: 'medium',
      summary:
        'The home and product pages take longer, and the catalogue is asked more often than the traffic explains.',
      question: 'The home page is slow and product-catalog gets more calls than usual. What happened?',
    },
  },
  'kafka-lag': {
    description: 'accounting books orders one at a time behind a lock: it consumes slower than orders are placed.',
    category: 'queue',
    service: 'accounting',
    trouble(site, _minutes, random) {
      if (site.kind !== 'consume') return;
      return { addMs: random.lognormal(9000, 0.3) };
    },
    queueDelay(minutes) {
      return minutes * 20_000;
    },
    gauge({ metric, value }, minutes) {
      return metric === 'kafka.consumer_group.lag' ? value + minutes * 38 : undefined;
    },
    alert: {
      title: 'Orders appear in the ledger minutes late',
      service: 'accounting',
      severity: 'medium',
      summary: 'Finance sees orders minutes after they were placed; the shop itself works.',
      question: 'Why do orders reach the ledger so late?',
    },
  },
  'memory-leak': {
    description:
      'email keeps every rendered template: memory grows until the pod is killed, and collection pauses come before.',
    category: 'resource',
    service: 'email',
    trouble(site, minutes, random) {
      if (site.kind !== 'serve' || site.pod.service !== 'email') return;
      const age = minutes % leakPeriod;
      if (minutes > leakPeriod && age < 0.8) {
        return { failure: { type: 'ConnectionReset', message: 'the process is starting', http: 503 } };
      }
      const fill = age / leakPeriod;
      if (fill > 0.85 && random.chance(0.25)) {
        return { addMs: 2500, failure: { type: 'NoMemoryError', message: 'failed to allocate memory', http: 500 } };
      }
      return { addMs: fill * fill * random.lognormal(700, 0.5) };
    },
    gauge: gaugesOf('email', {
      'container.memory.usage': (value, minutes) => value + leaked(minutes) * 390 * 1024 * 1024,
      'container.cpu.usage': (value, minutes) => value + leaked(minutes) ** 2 * 0.8,
      'k8s.container.restart_count': (value, minutes) => value + Math.floor(minutes / leakPeriod),
    }),
    alert: {
      title: 'Order confirmations late or missing',
      service: 'email',
      severity: 'medium',
      summary: 'Checkout waits on e-mail, and some confirmations are never sent.',
      question: 'Order confirmations are slow and some get lost. What is wrong with e-mail?',
    },
  },
  'bad-host': {
    description:
      'The disk of one node fails: the pod of product-catalog on it is slow and loses requests, its twin is well.',
    category: 'host',
    service: 'product-catalog',
    trouble(site, _minutes, random) {
      if (site.kind !== 'serve' || site.pod.service !== 'product-catalog' || site.pod.index !== 1) return;
      if (!random.chance(0.35)) return { addMs: random.lognormal(140, 0.6) };
      return {
        addMs: random.lognormal(800, 0.4),
        failure: { type: 'IOError', message: 'read /var/lib/catalog/assets.idx: input/output error', grpc: 14 },
      };
    },
    gauge({ metric, node, value }) {
      if (node?.name !== 'shop-node-3') return;
      if (metric === 'system.disk.io_time') return 0.97;
      return metric === 'system.cpu.utilization' ? Math.min(0.98, value + 0.3) : undefined;
    },
    alert: {
      title: 'Shop pages fail at random',
      service: 'frontend',
      severity: 'critical',
      summary: 'Some pages fail, of every kind and for everybody; a reload often helps.',
      question: 'Some pages fail and a reload helps. Which part is broken?',
    },
  },
  'feature-flag': {
    description:
      'The flag express-checkout was switched on for enterprise customers; its address check cannot take theirs.',
    category: 'configuration',
    service: 'checkout',
    expressCheckoutFor: 'enterprise',
    trouble(site, _minutes, random) {
      if (site.kind !== 'serve' || site.operation !== 'CheckoutService/PlaceOrder') return;
      if (site.traits.tier !== 'enterprise' || !random.chance(0.85)) return;
      return {
        failure: {
          type: 'ExpressCheckoutError',
          message: 'express-checkout: billing address has no default (tier enterprise)',
          grpc: 9,
        },
      };
    },
    alert: {
      title: 'Enterprise customers cannot check out',
      service: 'checkout',
      severity: 'critical',
      summary: 'Support has calls from enterprise customers; the other tiers order as usual.',
      question: 'Enterprise customers say that they cannot order. What do their failing requests have in common?',
    },
  },
  'network-delay': {
    description: 'Packets between checkout and shipping are delayed: shipping itself answers as fast as ever.',
    category: 'network',
    service: 'shipping',
    trouble(site, _minutes, random) {
      if (site.kind !== 'call' || site.pod.service !== 'checkout' || site.peer !== 'shipping') return;
      return { addMs: random.lognormal(420, 0.35) };
    },
    alert: {
      title: 'Checkout p95 above 800 ms',
      service: 'checkout',
      severity: 'high',
      summary: 'Placing an order takes almost a second longer than it did, without errors.',
      question: 'Checkout became slow but nothing fails. Where does the time go?',
    },
  },
  'gateway-outage': {
    description: 'The card gateway outside the shop answers 503 and late; payment is well but can charge few.',
    category: 'dependency',
    service: 'payment',
    trouble(site, _minutes, random) {
      if (site.kind !== 'external' || site.peer !== 'api.cardgate.example') return;
      if (random.chance(0.4)) return { addMs: random.lognormal(600, 0.5) };
      return {
        addMs: 3000,
        failure: {
          type: 'GatewayError',
          message: 'api.cardgate.example answered 503 Service Unavailable',
          http: 503,
          grpc: 14,
        },
      };
    },
    alert: {
      title: 'Most payments fail',
      service: 'payment',
      severity: 'critical',
      summary: 'More than half of all orders end with a failed charge.',
      question: 'Most charges fail. Is it us or the card gateway?',
    },
  },
  'cpu-saturation': {
    description: 'A new targeting rule in ad 2.8.0 backtracks in its regular expression: its pods have no CPU left.',
    category: 'resource',
    service: 'ad',
    deployment: '2.8.0',
    trouble(site, _minutes, random) {
      if (site.kind !== 'serve' || site.pod.service !== 'ad' || site.pod.version !== '2.8.0') return;
      return { addMs: random.lognormal(260, 0.6) };
    },
    gauge: gaugesOf('ad', { 'container.cpu.usage': () => 1.98 }),
    alert: {
      title: 'Pages slower than their objective',
      service: 'frontend',
      operation: 'GET /product/{id}',
      severity: 'medium',
      summary: 'Home and product pages take a quarter of a second longer; nothing fails.',
      question: 'Pages became slower by about 300 ms. Which service adds it, and since when?',
    },
  },
} as const satisfies Record<string, Scenario>;
