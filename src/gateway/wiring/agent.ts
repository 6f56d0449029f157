import type { Agent, AgentHost } from '../../contract/agent/index.ts';
import type { LoadedPlugin } from '../process/registry.ts';

export interface AgentParts {
  readonly plugin: LoadedPlugin<'agent'>;
  /** The shipped agent that needs no model. */
  readonly baseline: LoadedPlugin<'agent'>;
  readonly host: (label: string) => AgentHost;
}

/** The configured agent; where it asks for the shipped one beneath it, the two live and end together. */
export function createAgent({ plugin, baseline: shipped, host }: AgentParts): Agent {
  const made: { baseline?: Agent } = {};
  const agent = plugin.create({
    ...host(plugin.label),
    get baseline() {
      return (made.baseline ??= shipped.create(host(shipped.label)));
    },
  });
  const { baseline } = made;
  return baseline === undefined ? agent : together(agent, baseline);
}

function together(agent: Agent, baseline: Agent): Agent {
  return {
    engine: agent.engine,
    async start(signal) {
      await baseline.start(signal);
      await agent.start(signal);
    },
    async stop() {
      try {
        await agent.stop();
      } finally {
        await baseline.stop();
      }
    },
    async health(signal) {
      const beneath = await baseline.health(signal);
      return beneath.ok ? agent.health(signal) : beneath;
    },
    investigate: (assignment, signal) => agent.investigate(assignment, signal),
  };
}
