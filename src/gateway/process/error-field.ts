/** A field of something thrown, read by shape: an error of another realm or another copy of a library is no `instanceof`. */
export function errorField(error: unknown, field: 'code' | 'errcode'): unknown {
  return typeof error === 'object' && error !== null && field in error ? Reflect.get(error, field) : undefined;
}
