import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey } from 'jose';

/** The issuer's keys cannot be had: says nothing about the token. */
export class KeysOutOfReach extends Error {}

/** Tells "there is no such key" from "the keys could not be asked for". */
export function guardKeySet(keys: JWTVerifyGetKey): JWTVerifyGetKey {
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      const aboutTheToken =
        error instanceof errors.JWKSNoMatchingKey ||
        error instanceof errors.JWKSMultipleMatchingKeys ||
        error instanceof errors.JOSENotSupported;
      throw aboutTheToken ? error : new KeysOutOfReach('the keys cannot be had', { cause: error });
    }
  };
}

/** Read before anything is checked, only to know whose keys to check with. Undefined where the token is no JWT. */
export function readUnchecked(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}
