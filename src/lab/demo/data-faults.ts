import { gaugesOf, type Scenario } from './scenario.ts';

/** Faults of what keeps data: locks, pools, caches, disks. */
export const dataFaults = {
  'lock-contention': {
    description:
      'A transaction that was left open locks rows of stock: reservations of inventory wait for it, reads do not.',
    category: 'database',
    service: 'inventory',
    trouble(site, _minutes, random) {
      if (site.kind !== 'query' || site.pod.service !== 'inventory' || site.operation !== 'UPDATE stock') return;
      if (!random.chance(0.2)) return { addMs: random.lognormal(1_100, 0.5) };
      return {
        addMs: 4_000,
        failure: { type: 'PSQLException', message: 'deadlock detected on relation stock', grpc: 10 },
      };
    },
    alert: {
      title: 'Checkout p95 above its objective',
      service: 'checkout',
      severity: 'high',
      summary: 'Orders take seconds; pages are as quick as ever.',
      question: 'Placing an order takes very long since about a quarter of an hour. Why?',
    },
  },
  'pool-exhaustion': {
    description: 'product-catalog leaks connections: requests queue for one of its pool, and some give up.',
    category: 'resource',
    service: 'product-catalog',
    trouble(site, _minutes, random) {
      if (site.kind !== 'serve' || site.pod.service !== 'product-catalog') return;
      if (!random.chance(0.08)) return { addMs: random.lognormal(240, 0.7) };
      return {
        addMs: 2_000,
        failure: { type: 'PoolTimeout', message: 'timed out waiting for a connection of the pool', grpc: 8 },
      };
    },
    gauge: gaugesOf('product-catalog', {
      'db.client.connection.pending_requests': (value) => value + 17,
      'db.client.connection.count': () => 20,
    }),
    alert: {
      title: 'Pages slow, some fail',
      service: 'frontend',
      severity: 'high',
      summary: 'All pages take a quarter of a second longer and some fail.',
      question: 'The shop became slow and some pages fail. Which service is at fault?',
    },
  },
  'cache-stampede': {
    description:
      'The keys of the recommendation cache changed their form: hardly a look-up hits, and all is computed anew.',
    category: 'cache',
    service: 'recommendation',
    cacheHits: 0.06,
    gauge: gaugesOf('recommendation', { 'container.cpu.usage': (value) => value * 2.2 }),
    alert: {
      title: 'product-catalog gets twice its calls',
      service: 'product-catalog',
      severity: 'medium',
      summary: 'Pages take longer, and the catalogue is asked far more often than the traffic explains.',
      question: 'product-catalog gets many more calls than usual and pages are slower. Where does it come from?',
    },
  },
  'disk-full': {
    description: 'The volume below the ledger is full: accounting cannot write entries.',
    category: 'database',
    service: 'accounting',
    trouble(site) {
      if (site.kind !== 'query' || site.operation !== 'INSERT entries') return;
      return {
        addMs: 6,
        failure: { type: 'PostgresException', message: '53100: could not extend file: No space left on device' },
      };
    },
    alert: {
      title: 'No new entries in the ledger',
      service: 'accounting',
      severity: 'high',
      summary: 'Finance has seen no orders for some minutes; the shop itself sells.',
      question: 'Orders no longer reach the ledger. What broke?',
    },
  },
} as const satisfies Record<string, Scenario>;
