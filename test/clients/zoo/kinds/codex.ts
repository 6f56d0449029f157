import { agent, throughBrowser } from './agent.ts';

export const codex = agent({
  name: 'codex',
  title: 'Codex',
  packages: ['@openai/codex@0.169.0'],
  program: 'codex',
  ask: 'exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox "$QUESTION"',
  model: () => ({}),
  prepare: (stage) =>
    stage.write(
      '~/.codex/config.toml',
      `model = "gpt-5.5"
model_provider = "zoo"
[model_providers.zoo]
name = "zoo"
base_url = "${stage.place.model.url}/v1"
wire_api = "responses"
`,
    ),
  async signIn(stage, run) {
    await throughBrowser(stage, run(await stage.connect('codex')));
  },
  limits:
    'Shows its model the structured form; one whose limits it does not know sees 12,000 characters, head and tail',
});
