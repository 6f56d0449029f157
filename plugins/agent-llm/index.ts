import { apiVersion, definePlugin, type Logger } from '../../src/contract/core/index.ts';
import { createLlmAgent } from './agent.ts';
import { createAnthropicClient } from './client/anthropic.ts';
import type { LlmClient } from './client/client.ts';
import { createChatClient } from './client/openai.ts';
import { createResponsesClient } from './client/responses.ts';
import { createServers } from './mcp/servers.ts';
import { configSchema, type Config } from './config.ts';

export function createClient(config: Config, logger: Logger): LlmClient {
  if (config.provider === 'anthropic') return createAnthropicClient(config, logger);
  const { api = config.baseUrl === undefined ? 'responses' : 'chat' } = config;
  return api === 'responses' ? createResponsesClient(config, logger) : createChatClient(config, logger);
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
