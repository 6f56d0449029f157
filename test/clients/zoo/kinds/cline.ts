import { agent } from './agent.ts';

export const cline = agent({
  name: 'cline',
  title: 'Cline',
  packages: ['cline@3.0.65'],
  program: 'cline',
  ask: '--auto-approve true "$QUESTION"',
  model: () => ({}),
  async prepare(stage) {
    await stage.shell(`cline auth -p openai -k scripted -m scripted -b ${stage.place.model.url}/v1`);
  },
  signIn: 'only in a menu of its terminal window',
  limits:
    'Shows its model both forms, cut at 8,000 characters together. `max_bytes: 3500` fits. Reads no variables, so that a key’s token stands in its settings',
});
