import type { TestProjectInlineConfiguration } from 'vitest/config'

type TestOptions = NonNullable<TestProjectInlineConfiguration['test']>

/** Which tests belong to which project, by what they need. See README.md beside this file. */
const FILES = {
  browser: ['test/browser/**/*.test.ts'],
  integration: ['test/cli/**/*.test.ts', 'test/**/*.integration.test.ts'],
  'real-time': ['test/**/*.real-time.test.ts'],
} as const

export type ProjectName = 'unit' | keyof typeof FILES

/** The options of one project. */
export function project(name: ProjectName): TestOptions {
  return {
    name,
    ...(name === 'unit'
      ? { include: ['test/**/*.test.ts'], exclude: ['**/node_modules/**', ...Object.values(FILES).flat()] }
      : { include: [...FILES[name]] }),
    globalSetup: [
      'test/support/generated-contract.ts',
      ...(name === 'integration' || name === 'browser' ? ['test/support/left-out.ts'] : []),
    ],
    // A limit for what hangs, not a measure: nobody knows how busy the machine is.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // No unit test changes what another one could see, so each worker loads the source once.
    isolate: name !== 'unit',
    maxWorkers: '100%',
    // Real time is kept best by who has the machine to itself.
    sequence: { groupOrder: name === 'real-time' ? 1 : 0 },
  }
}
