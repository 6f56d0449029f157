import { describe, expect, it } from '@jest/globals';
import * as v2 from '@modelcontextprotocol/client';
import * as v1 from '@modelcontextprotocol/sdk/types.js';
import type { ContentBlock, ToolAnnotations } from '../../src/contract/core/index.ts';
import type { RequestId } from '../../src/mcp/message.ts';
import {
  legacyVersions,
  modernVersion,
  rpcCode,
  type Era,
  type latestLegacyVersion,
  type meta,
} from '../../src/mcp/protocol.ts';

type Same<A, B> = [A, B] extends [B, A] ? true : false;
type Fits<Narrow, Wide> = Narrow extends Wide ? true : false;
type Writable<T> = T extends object ? { -readonly [K in keyof T]: Writable<T[K]> } : T;

/** Each of these fails to compile where our types and the official SDK's part; both of its lines are held against ours. */
const agreed = [
  same<Era, v2.ProtocolEra>(true),
  same<RequestId, v1.RequestId>(true),
  same<RequestId, v2.RequestId>(true),
  fits<ToolAnnotations, v1.ToolAnnotations>(true),
  fits<ToolAnnotations, v2.ToolAnnotations>(true),
  same<keyof ToolAnnotations, Exclude<keyof v1.ToolAnnotations, 'title'>>(true),
  same<keyof ToolAnnotations, Exclude<keyof v2.ToolAnnotations, 'title'>>(true),
  fits<Writable<ContentBlock>, v1.ContentBlock>(true),
  fits<Writable<ContentBlock>, v2.ContentBlock>(true),
  same<(typeof meta)['protocolVersion'], typeof v2.PROTOCOL_VERSION_META_KEY>(true),
  same<(typeof meta)['clientCapabilities'], typeof v2.CLIENT_CAPABILITIES_META_KEY>(true),
  same<(typeof meta)['clientInfo'], typeof v2.CLIENT_INFO_META_KEY>(true),
  same<(typeof meta)['serverInfo'], typeof v2.SERVER_INFO_META_KEY>(true),
  same<(typeof meta)['subscriptionId'], typeof v2.SUBSCRIPTION_ID_META_KEY>(true),
  same<typeof latestLegacyVersion, typeof v1.LATEST_PROTOCOL_VERSION>(true),
  same<typeof latestLegacyVersion, typeof v2.LATEST_PROTOCOL_VERSION>(true),
];

function same<A, B>(agrees: Same<A, B>): boolean {
  return agrees;
}

function fits<Narrow, Wide>(agrees: Fits<Narrow, Wide>): boolean {
  return agrees;
}

describe('the wire, as the official SDK has it', () => {
  it('is ours in types', () => {
    expect(agreed).not.toContain(false);
  });

  it('has our revisions', () => {
    expect(v1.SUPPORTED_PROTOCOL_VERSIONS).toEqual(expect.arrayContaining([...legacyVersions]));
    expect(v2.SUPPORTED_PROTOCOL_VERSIONS).toEqual(expect.arrayContaining([...legacyVersions]));
    expect(new v2.UnsupportedProtocolVersionError({ supported: [modernVersion], requested: 'x' }).code).toBe(
      rpcCode.unsupportedProtocolVersion,
    );
  });

  it.each([
    [rpcCode.parseError, v1.ErrorCode.ParseError, v2.ProtocolErrorCode.ParseError],
    [rpcCode.invalidRequest, v1.ErrorCode.InvalidRequest, v2.ProtocolErrorCode.InvalidRequest],
    [rpcCode.methodNotFound, v1.ErrorCode.MethodNotFound, v2.ProtocolErrorCode.MethodNotFound],
    [rpcCode.invalidParams, v1.ErrorCode.InvalidParams, v2.ProtocolErrorCode.InvalidParams],
    [rpcCode.internalError, v1.ErrorCode.InternalError, v2.ProtocolErrorCode.InternalError],
  ])('has our code %i', (ours, first, second) => {
    expect([first, second]).toEqual([ours, ours]);
  });

  it('has our code of a missing capability', () => {
    expect(v2.ProtocolErrorCode.MissingRequiredClientCapability).toBe(rpcCode.missingClientCapability);
  });
});
