import type { Scenario } from './scenario.ts';

// Nothing is wrong: what an investigator must not make a fault of.

const nothing = { category: 'none' } as const;

export const quiet: Scenario = {
  ...nothing,
  name: 'quiet',
  description: 'Nothing is wrong; there are only the usual small errors.',
  alert: {
    title: 'One visitor reported an error page',
    service: 'frontend',
    severity: 'low',
    summary: 'One report from a visitor, no alert.',
    question: 'A visitor saw an error page. Is anything wrong with the shop?',
  },
};

export const trafficPeak: Scenario = {
  ...nothing,
  name: 'traffic-peak',
  description: 'A campaign doubles the traffic and the shop bears it: nothing is wrong.',
  traffic: () => 2.1,
  gauge({ metric, pod, value }) {
    return metric === 'container.cpu.usage' && pod !== undefined ? value * 1.9 : undefined;
  },
  alert: {
    title: 'Requests a minute twice as many as usual',
    service: 'frontend',
    severity: 'low',
    summary: 'Traffic doubled within a minute.',
    question: 'Traffic doubled. Does the shop suffer from it?',
  },
};

export const harmlessDeploy: Scenario = {
  ...nothing,
  name: 'harmless-deploy',
  description: 'A release of cart that changes nothing anybody can see.',
  alert: {
    title: 'Check of the cart release',
    service: 'cart',
    severity: 'low',
    summary: 'cart was released; somebody wants to know that it is well.',
    question: 'cart was released a short while ago. Did it make anything worse?',
  },
};
