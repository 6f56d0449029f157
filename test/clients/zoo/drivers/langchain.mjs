import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';

const { MCP_URL, MCP_TOKEN, MODEL_URL, QUESTION } = process.env;
const servers = { sightline: { transport: 'http', url: MCP_URL, headers: { Authorization: `Bearer ${MCP_TOKEN}` } } };
const client = new MultiServerMCPClient({ mcpServers: servers });
const llm = new ChatOpenAI({ model: 'scripted', apiKey: 'scripted', configuration: { baseURL: MODEL_URL } });
const agent = createReactAgent({ llm, tools: await client.getTools() });
await agent.invoke({ messages: [{ role: 'user', content: QUESTION }] });
await client.close();
