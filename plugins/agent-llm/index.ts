import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { createLlmAgent } from './agent.ts';
import { createAnthropicClient } from './client/anthropic.ts';
import { createOpenAiClient } from './client/openai.ts';
import { configSchema } from './config.ts';

const clients = { anthropic: createAnthropicClient, openai: createOpenAiClient };

/** Investigates with a model of your choice, on the evidence of the playbook and of what the model asks the telemetry. */
export default definePlugin({
  kind: 'agent',
  name: 'llm',
  apiVersion,
  configSchema,
  create: (config, host) =>
    createLlmAgent({ client: clients[config.provider](config, host.logger), host, limits: config.limits }),
});
