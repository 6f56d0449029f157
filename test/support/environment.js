import { constants, createContext } from 'node:vm';
import { ModernFakeTimers } from '@jest/fake-timers';
import { TestEnvironment } from 'jest-environment-node';
import { ModuleMocker } from 'jest-mock';

/**
 * Jest's environment for Node, on a global object without interceptors. Jest's own asks a proxy for each use of `Math` or `Array`,
 * which was half of the time of tests that decode and generate telemetry.
 */
export default class PlainGlobal extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    const found = this.global;
    const plain = createContext(constants.DONT_CONTEXTIFY);
    for (const key of Reflect.ownKeys(found)) {
      if (!Object.hasOwn(plain, key)) lend(plain, found, key);
    }
    // As in Jest's: bytes that Node makes are those that a test names.
    Object.assign(plain, { global: plain, ArrayBuffer, Uint8Array });
    plain.Error.stackTraceLimit = found.Error.stackTraceLimit;
    this.context = plain;
    this.global = plain;
    this.moduleMocker = new ModuleMocker(plain);
    this.fakeTimersModern = new ModernFakeTimers({ config: config.projectConfig, global: plain });
  }
}

/** Read when it is first used: some of Node's globals load a module then. */
function lend(plain, found, key) {
  const { enumerable } = Object.getOwnPropertyDescriptor(found, key);
  const define = (value) =>
    Object.defineProperty(plain, key, { value, enumerable, configurable: true, writable: true });
  Object.defineProperty(plain, key, {
    enumerable,
    configurable: true,
    get() {
      const value = found[key];
      define(value);
      return value;
    },
    set: define,
  });
}
