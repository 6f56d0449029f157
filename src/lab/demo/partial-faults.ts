import type { Scenario } from './scenario.ts';

// Faults that meet only some: one pod, one country.

export const badPod: Scenario = {
  name: 'bad-pod',
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
};

export const regionOnly: Scenario = {
  name: 'region-only',
  description: 'The customs table of shipping has no rows for the United States: quotes for that country fail.',
  category: 'configuration',
  service: 'shipping',
  trouble(site) {
    if (site.kind !== 'serve' || site.operation !== 'POST /get-quote' || site.traits.country !== 'US') return;
    return { addMs: 15, failure: { type: 'TariffError', message: 'no customs class for this destination', http: 422 } };
  },
  alert: {
    title: 'Fewer orders than expected',
    service: 'frontend',
    operation: 'POST /api/checkout',
    severity: 'high',
    summary: 'A fifth of the orders is missing, and nobody in the office can make one fail.',
    question: 'We lose a part of our orders. Which customers, and where does it break?',
  },
};
