import type { TestProject } from 'vitest/node'

/** Prints how long `npm test` takes before its first test, and what a project leaves out after its last one. */
export default async function announce({ name }: TestProject): Promise<() => void> {
  const isShort = name === 'integration' && process.env.THOROUGH === undefined
  if (isShort) process.stderr.write('Takes 1.5 minutes on two idle cores, up to 5 on busy ones.\n')
  const leftOut = [
    ...(isShort ? ['browsers, other programs, real time, most runs of random tests'] : []),
    ...(await missingTools(name)).map((tool) => `${tool} (not installed)`),
  ]
  return () => {
    if (leftOut.length === 0) return
    process.stderr.write(`Left out: ${leftOut.join(', ')}.${isShort ? ' Run all: npm run test:all' : ''}\n`)
  }
}

async function missingTools(project: string): Promise<readonly string[]> {
  if (project === 'browser') {
    const { HAS_CHROMIUM, HAS_FIREFOX } = await import('./browsers.js')
    return [...(HAS_CHROMIUM ? [] : ['Chromium']), ...(HAS_FIREFOX ? [] : ['Firefox'])]
  }
  const { HAS_REDIS } = await import('./redis-server.js')
  const redis = HAS_REDIS ? [] : ['redis-server']
  if (project !== 'programs') return redis
  const { HAS_PYTHON } = await import('./python.js')
  const { HAS_SHELLS, HAS_TMUX } = await import('./tools.js')
  const shells = HAS_SHELLS ? [] : ['bash, zsh or fish']
  return [...redis, ...(HAS_PYTHON ? [] : ['Python']), ...(HAS_TMUX ? [] : ['tmux']), ...shells]
}
