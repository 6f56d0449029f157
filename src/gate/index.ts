import type { SqlGates } from '../contract/index.ts';

export const sqlGates: SqlGates = {
  open: async () => {
    throw new Error('not written yet');
  },
};
