import { Agent, MCPServerStreamableHttp, run, setDefaultOpenAIClient, setTracingDisabled } from '@openai/agents';
import OpenAI from 'openai';

const { MCP_URL, MCP_TOKEN, MODEL_URL, QUESTION } = process.env;
setTracingDisabled(true);
setDefaultOpenAIClient(new OpenAI({ baseURL: MODEL_URL, apiKey: 'scripted' }));
const requestInit = { headers: { Authorization: `Bearer ${MCP_TOKEN}` } };
const server = new MCPServerStreamableHttp({ name: 'sightline', url: MCP_URL, requestInit, timeout: 60_000 });
await server.connect();
await run(new Agent({ name: 'zoo', model: 'scripted', mcpServers: [server] }), QUESTION);
await server.close();
