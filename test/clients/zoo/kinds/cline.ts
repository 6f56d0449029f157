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
    'Cuts a result, both forms together, at 8,000 characters; keeps a key’s token in its settings, since it reads no variables.',
});
