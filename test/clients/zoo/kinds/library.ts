import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { question } from '../course.ts';
import type { Kind } from './kind.ts';

/** A library, in a short program in `drivers/` that uses it as its documentation does. */
function library(kind: Pick<Kind, 'name' | 'title' | 'packages' | 'limits'>): Kind {
  return {
    ...kind,
    async bearer(stage) {
      // Beside the library, where its imports are found.
      const driver = join(stage.installed, 'drive.mjs');
      await copyFile(join(import.meta.dirname, '../drivers', `${kind.name}.mjs`), driver);
      const { url, model } = stage.place;
      const env = {
        MCP_URL: url,
        MCP_TOKEN: await stage.place.token(),
        MODEL_URL: `${model.url}/v1`,
        QUESTION: question,
        OPENAI_API_KEY: 'scripted',
      };
      const { code, output } = await stage.shell(`exec node "${driver}"`, { env });
      if (code !== 0) throw new Error(output.trim().slice(-300));
      return stage.saw;
    },
    oauth: 'the program that uses it brings the token',
  };
}

export const langchain = library({
  name: 'langchain',
  title: 'LangChain',
  packages: [
    '@langchain/mcp-adapters@1.1.4',
    '@langchain/core@1.4.0',
    '@langchain/langgraph@1.7.3',
    '@langchain/openai@1.6.0',
  ],
  limits: '–',
});

export const aiSdk = library({
  name: 'ai-sdk',
  title: 'AI SDK',
  packages: ['@ai-sdk/mcp@2.0.99', '@ai-sdk/openai@4.0.118', 'ai@7.0.173'],
  limits: '–',
});

export const mastra = library({
  name: 'mastra',
  title: 'Mastra',
  packages: ['@mastra/mcp@2.0.0', '@mastra/core@1.71.0'],
  limits: '–',
});

export const openaiAgents = library({
  name: 'openai-agents',
  title: 'OpenAI Agents',
  packages: ['@openai/agents@0.20.0'],
  limits: '–',
});
