import type { Register } from './command.ts';
import { registerExport } from './audit/export.ts';
import { registerVerify } from './audit/verify.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('audit').description(summary);
  registerVerify(group, output);
  registerExport(group, output);
};
