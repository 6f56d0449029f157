import { asFunction, asValue, createContainer, InjectionMode, type AwilixContainer } from 'awilix';
import { identityWiring } from '../../identity/wiring.ts';
import { incidentsWiring } from '../../incidents/wiring.ts';
import { recordsWiring } from '../../records/wiring.ts';
import { telemetryWiring } from '../../telemetry/wiring.ts';
import type { Cradle, Given, Parts, Wiring } from './cradle.ts';
import { frontWiring } from './front.ts';
import { pluginWiring } from './plugins.ts';
import { sharedWiring } from './shared.ts';

const wiring: Wiring<Parts> = {
  ...pluginWiring,
  ...identityWiring,
  ...recordsWiring,
  ...telemetryWiring,
  ...incidentsWiring,
  ...sharedWiring,
  ...frontWiring,
};

/** awilix only wires; lifecycle is ordered by hand in gateway.ts, since awilix disposes in parallel. */
export function createGatewayContainer(given: Given): AwilixContainer<Cradle> {
  const container = createContainer<Cradle>({ injectionMode: InjectionMode.PROXY, strict: true });
  for (const [name, value] of Object.entries(given)) container.register(name, asValue<unknown>(value));
  for (const [name, make] of Object.entries(wiring)) container.register(name, asFunction<unknown>(make).singleton());
  return container;
}
