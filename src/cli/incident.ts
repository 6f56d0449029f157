import type { Register } from './command.ts';
import { create } from './incident/create.ts';
import { document } from './incident/document.ts';
import { importFile } from './incident/import-file.ts';
import { list } from './incident/list.ts';
import { resolve } from './incident/resolve.ts';
import { show } from './incident/show.ts';
import { timeline } from './incident/timeline.ts';
import { update } from './incident/update.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('incident').description(summary);
  for (const add of [list, show, create, update, resolve, timeline, document, importFile]) add(group, output);
};
