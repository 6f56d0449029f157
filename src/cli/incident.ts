import type { Register } from './command.ts';
import { create, resolve, update } from './incident/write.ts';
import { document } from './incident/document.ts';
import { importFile } from './incident/import-file.ts';
import { list, show, timeline } from './incident/read.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('incident').description(summary);
  for (const add of [list, show, create, update, resolve, timeline, document, importFile]) add(group, output);
};
