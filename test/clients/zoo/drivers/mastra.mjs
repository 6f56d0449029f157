import { Agent } from '@mastra/core/agent';
import { MCPClient } from '@mastra/mcp';

const { MCP_URL, MCP_TOKEN, MODEL_URL, QUESTION } = process.env;
const requestInit = { headers: { Authorization: `Bearer ${MCP_TOKEN}` } };
const client = new MCPClient({ servers: { sightline: { url: new URL(MCP_URL), requestInit } } });
const agent = new Agent({
  id: 'zoo',
  name: 'zoo',
  instructions: 'Answer.',
  model: { id: 'zoo/scripted', url: MODEL_URL, apiKey: 'scripted' },
  tools: await client.listTools(),
});
await agent.generate(QUESTION, { maxSteps: 8 });
await client.disconnect();
