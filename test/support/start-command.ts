import { readFileSync } from 'node:fs';
import { z } from 'zod';

const { scripts } = z
  .object({ scripts: z.object({ start: z.string() }) })
  .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')));

/** What `npm start` says to Node, and each other way to serve too. */
export const nodeOptions: readonly string[] = optionsOf(scripts.start);

function optionsOf(command: string): readonly string[] {
  const found = /^node (--\S+(?: --\S+)*) bin\/sightline\.js serve$/.exec(command)?.[1];
  if (found === undefined) throw new Error(`npm start is not node, options and the program: ${command}`);
  return found.split(' ');
}
