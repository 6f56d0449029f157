import type { Scenario } from './scenario.ts';

// Faults of what the services run on and depend on.

export const badHost: Scenario = {
  name: 'bad-host',
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
};

export const networkDelay: Scenario = {
  name: 'network-delay',
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
};

export const gatewayOutage: Scenario = {
  name: 'gateway-outage',
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
};
