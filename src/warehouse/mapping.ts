import type { MappingHelpers } from '../contract/index.ts';

export const mappingHelpers: MappingHelpers = {
  resolve: async () => {
    throw new Error('not written yet');
  },
  relation: () => {
    throw new Error('not written yet');
  },
};
