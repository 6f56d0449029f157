import type { OpenWorkspace } from '../../gateway/wiring/workspace.ts';
import type { Organization } from '../../contract/storage/index.ts';
import { findOrganization } from '../command.ts';

/** The one that is named, or all. */
export async function organizationsOf(
  workspace: OpenWorkspace,
  name: string | undefined,
): Promise<readonly Organization[]> {
  return name === undefined ? workspace.storage.directory.organizations() : [await findOrganization(workspace, name)];
}
