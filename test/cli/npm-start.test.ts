import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFolder } from '../support/temporary-files.js'

/** The state of a clone after `npm ci`, without built and generated files. */
function clone(): string {
  const folder = temporaryFolder()
  const flags = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const listed = spawnSync('git', flags, { cwd: packageDirectory, encoding: 'utf8' })
  const files = listed.stdout.split('\0').filter((file) => file !== '' && existsSync(join(packageDirectory, file)))
  for (const file of files) cpSync(join(packageDirectory, file), join(folder, file))
  symlinkSync(join(packageDirectory, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Starts it and waits until it responds. @returns its output */
async function start(cwd: string): Promise<string> {
  const flags = ['--port', '0', '--in-memory', '--log', 'json']
  const child = spawn('npm', ['start', '--silent', '--', ...flags], { cwd, detached: true })
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-Number(child.pid), 'SIGKILL')
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const closed = once(child, 'close').then(([code]) => {
    throw new Error(`npm start ended with ${code}: ${said}`)
  })
  while (!said.includes('"event":"ready"')) await Promise.race([once(child.stderr, 'data'), closed])
  closed.catch(() => {})
  const baseUrl = /"baseUrl":"([^"]+)"/.exec(said)?.[1]
  const response = await fetch(`${baseUrl}/pets`, { headers: { Authorization: 'Bearer sandbox' } })
  expect(response.status).toBe(200)
  await response.arrayBuffer()
  const page = await fetch(`${String(baseUrl).replace('/v1', '/__sandbox')}/assets/dashboard.js`)
  expect(page.status).toBe(200)
  // A body that nobody reads would hold up the stop.
  await page.arrayBuffer()
  process.kill(-Number(child.pid), 'SIGTERM')
  await once(child, 'close')
  return said
}

it('npm start in a clone says that it builds, and only the first time', async () => {
  const folder = clone()
  const lines = (said: string) => said.trimEnd().split('\n')
  const first = lines(await start(folder)).filter((line) => !line.startsWith('npm warn'))
  expect(first[0]).toMatch(/^Building petstore-sandbox from its sources, which takes a few seconds …$/)
  expect(first[1]).toMatch(/^\{"event":"ready"/)
  // A start does not wait for declarations.
  expect(existsSync(join(folder, 'dist/types'))).toBe(false)
  const second = lines(await start(folder)).filter((line) => !line.startsWith('npm warn'))
  expect(second[0]).toMatch(/^\{"event":"ready"/)
})
