import type { Scenario, ScenarioAlert } from './scenario.ts';
import type { ServiceName } from './shop.ts';

/** A scenario in which nothing is wrong: what an investigator must not make a fault of. */
export function quietly(
  {
    name,
    description,
    ask,
    service = 'frontend',
  }: {
    readonly name: string;
    readonly description: string;
    readonly ask: string;
    readonly service?: ServiceName;
  },
  rest: Omit<Partial<Scenario>, 'alert'> & { readonly alert?: Partial<ScenarioAlert> } = {},
): Scenario {
  return {
    name,
    description,
    category: 'none',
    ...rest,
    alert: {
      title: `Check of ${service}`,
      service,
      severity: 'low',
      summary: 'No alert: somebody noticed something and asked.',
      question: ask,
      ...rest.alert,
    },
  };
}
