import { apiVersion, definePlugin, type Logger } from '../../src/contract/core/index.ts';
import { createLlmAgent } from './agent.ts';
import { anthropicEndpoint, createAnthropicClient } from './client/anthropic.ts';
import { withHealth, type CheckedClient } from './client/health.ts';
import { createChatClient, openAiEndpoint, createResponsesClient } from './client/openai.ts';
import { createServers } from './mcp/servers.ts';
import { configSchema, type Config } from './config.ts';

export function createClient(config: Config, logger: Logger): CheckedClient {
  if (config.provider === 'anthropic') {
    return withHealth(createAnthropicClient(config, logger), config, anthropicEndpoint(config, 'models', logger));
  }
  const { api = config.baseUrl === undefined ? 'responses' : 'chat' } = config;
  const client = api === 'responses' ? createResponsesClient(config, logger) : createChatClient(config, logger);
  return withHealth(client, config, openAiEndpoint(config, 'models', logger));
}

/** Investigates with a model of your choice, on the evidence of the playbook and of what the model asks the telemetry. */
export default definePlugin({
  kind: 'agent',
  name: 'llm',
  apiVersion,
  configSchema,
  create: (config, host) =>
    createLlmAgent({
      client: createClient(config, host.logger),
      host,
      limits: config.limits,
      servers: createServers(config.mcpServers, host.logger),
    }),
});
