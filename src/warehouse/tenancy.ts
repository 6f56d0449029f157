import type { Directory, TenancyHelpers } from '../contract/index.ts';

export function createTenancy(_directory: Pick<Directory, 'findOrganization'>): TenancyHelpers {
  return {
    open: () => {
      throw new Error('not written yet');
    },
  };
}
