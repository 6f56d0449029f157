import { agent, throughWindow } from './agent.ts';

export const qwen = agent({
  name: 'qwen',
  title: 'Qwen Code',
  packages: ['@qwen-code/qwen-code@0.24.4'],
  program: 'qwen',
  ask: '-y --auth-type openai "$QUESTION"',
  model: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'scripted', OPENAI_MODEL: 'scripted' }),
  async configure(stage) {
    const headers = { Authorization: 'Bearer $SIGHTLINE_TOKEN' };
    const entry = { httpUrl: stage.place.url, headers };
    await stage.write('~/.qwen/settings.json', JSON.stringify({ mcpServers: { sightline: entry } }));
    return `export SIGHTLINE_TOKEN=${await stage.place.token()}`;
  },
  async signIn(stage, run) {
    await stage.write(
      '~/.qwen/settings.json',
      JSON.stringify({ mcpServers: { sightline: { httpUrl: stage.place.url } } }),
    );
    const down = '\u001b[B';
    await throughWindow(stage, run, 'qwen --auth-type openai', [
      { after: /Type your message/, text: '/mcp ' },
      { after: /\/mcp/, text: '\r' },
      { after: /sightline[^]*Enter to select/, text: '\r' },
      { after: /Authenticate/, text: `${down.repeat(2)}\r` },
    ]);
  },
  limits:
    'Shows its model both forms, about 25 kB together; of more the first 2,000 characters, and a file. Gets `max_bytes: 11000` by default. Its settings are those of Gemini CLI, in `.qwen/settings.json`; `qwen mcp approve` for a project’s',
});
