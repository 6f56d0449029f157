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
