import type { TestProject } from 'vitest/node'

/** Says, once and before all tests of a project, which of them are left out on this machine. */
export default async function sayWhatIsLeftOut({ name }: TestProject): Promise<void> {
  if (name === 'integration' && process.env.THOROUGH === undefined)
    process.stderr.write(
      'Left out: tests with browsers or in real time, and most runs of random tests. Run all: npm run test:all\n',
    )
  for (const [tool, isThere, tests] of name === 'browser' ? await browsers() : await programs())
    if (!isThere) process.stderr.write(`${tool} is not installed: ${tests} are left out.\n`)
}

type Tool = readonly [name: string, isThere: boolean, tests: string]

async function browsers(): Promise<readonly Tool[]> {
  const { HAS_CHROMIUM, HAS_FIREFOX } = await import('./browsers.js')
  return [
    ['Chromium', HAS_CHROMIUM, 'the tests of the pages, and of the sandbox in one'],
    ['Firefox', HAS_FIREFOX, 'the tests of the pages in it'],
  ]
}

async function programs(): Promise<readonly Tool[]> {
  const { HAS_REDIS } = await import('./redis-server.js')
  const { HAS_PYTHON } = await import('./python.js')
  return [
    ['redis-server', HAS_REDIS, 'the tests on a real Redis'],
    ['Python', HAS_PYTHON, 'the code samples in it'],
  ]
}
