import { spawnSync } from 'node:child_process'
import type { TestProjectInlineConfiguration } from 'vitest/config'
import { HAS_CHROMIUM } from './support/browsers.js'
import { PATIENCE_MS, STEP_PATIENCE_MS } from './support/patience.js'

/**
 * The seed of all random tests. The same files make the same choices, so that a failure repeats; the next commit
 * makes others. `TEST_SEED=<seed>` overrides it.
 */
const TEST_SEED =
  process.env.TEST_SEED ??
  (spawnSync('git', ['rev-parse', 'HEAD^{tree}'], { encoding: 'utf8' }).stdout?.trim() || 'no repository')

type TestOptions = NonNullable<TestProjectInlineConfiguration['test']>

/** Which tests belong to which project, by their requirements. See README.md beside this file. */
const FILES = {
  browser: ['test/browser/**/*.test.ts'],
  // Not in `npm test`: they need other programs than Node, or wait for many seconds.
  programs: [
    'test/cli/{completion-shells,conform,exec-signals,npm-start,terminal}.test.ts',
    'test/control/typed-client.integration.test.ts',
    'test/http/without-fast-lane.integration.test.ts',
    'test/other-languages.integration.test.ts',
    'test/package/action.integration.test.ts',
    'test/replication/{grown-contract,redis-log,removed-keys}.integration.test.ts',
    'test/vitest-under-exec.integration.test.ts',
    'test/web/code-samples.integration.test.ts',
  ],
  integration: ['test/cli/**/*.test.ts', 'test/**/*.integration.test.ts'],
  'real-time': ['test/**/*.real-time.test.ts'],
} as const

/** Specs that run wherever a sandbox runs, including a Chromium page. */
const IN_CHROMIUM = {
  include: ['test/service/**/*.test.ts', 'test/control/{bounds,routes,verbs}.test.ts', 'test/machine/in-chromium.ts'],
  // All of these are about a contract of one's own, a disk, a service behind the sandbox, or about no transport.
  exclude: [
    'test/service/mocked-operations.integration.test.ts',
    'test/service/{full-store,fuller-contract,generated-shapes,kinds-of-contracts,own-access,own-quotas,served-pets,upstream,upstream-left,what-if}.test.ts',
  ],
}

export type ProjectName = 'unit' | 'chromium' | keyof typeof FILES

/** The options of one project. */
export function project(name: ProjectName): TestOptions {
  return {
    name,
    ...filesOf(name),
    env: { TEST_SEED },
    globalSetup: [
      'test/support/generated-contract.ts',
      ...(name === 'chromium' && HAS_CHROMIUM ? ['test/support/page/start-chromium.ts'] : []),
      ...(name === 'integration' || name === 'programs' || name === 'browser' ? ['test/support/left-out.ts'] : []),
    ],
    setupFiles: ['test/support/print-seed.ts'],
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    expect: { poll: { timeout: STEP_PATIENCE_MS } },
    // Unit and browser tests change nothing that others see, so each worker loads the source once.
    isolate: name !== 'unit' && name !== 'chromium' && name !== 'browser',
    maxWorkers: '100%',
    // Real-time tests run last, alone.
    sequence: { groupOrder: name === 'real-time' ? 1 : 0 },
  }
}

function filesOf(name: ProjectName): Pick<TestOptions, 'include' | 'exclude' | 'provide'> {
  switch (name) {
    case 'unit':
      return { include: ['test/**/*.test.ts'], exclude: ['**/node_modules/**', ...Object.values(FILES).flat()] }
    case 'chromium':
      return { ...(HAS_CHROMIUM ? IN_CHROMIUM : { include: [] }), provide: { transport: 'chromium' } }
    case 'integration':
      return { include: [...FILES.integration], exclude: [...FILES.programs] }
    default:
      return { include: [...FILES[name]] }
  }
}
