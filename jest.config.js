import { fileURLToPath } from 'node:url';

// As in a gateway, whose engines find the sources compiled there.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/sightline', import.meta.url));

/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/test/support/environment.js',
  testEnvironmentOptions: { customExportConditions: ['node', 'node-addons', 'sightline-source'] },
  roots: ['<rootDir>/src', '<rootDir>/plugins', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  // It ends what hangs, and says nothing about speed: on a busy machine what takes two seconds at rest was seen to take thirty.
  testTimeout: 90_000,
  // A new worker after nearly every file: what earlier files leave behind made some take six times the CPU in garbage collection.
  workerIdleMemoryLimit: '100MB',
  testSequencer: '<rootDir>/test/support/sequencer.js',
  reporters: ['default', '<rootDir>/test/support/reporter.js'],
};
