import { createMCPClient } from '@ai-sdk/mcp';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs } from 'ai';

const { MCP_URL, MCP_TOKEN, MODEL_URL, QUESTION } = process.env;
const client = await createMCPClient({
  transport: { type: 'http', url: MCP_URL, headers: { Authorization: `Bearer ${MCP_TOKEN}` } },
});
await generateText({
  model: createOpenAI({ baseURL: MODEL_URL, apiKey: 'scripted' }).chat('scripted'),
  tools: await client.tools(),
  stopWhen: stepCountIs(8),
  prompt: QUESTION,
});
await client.close();
