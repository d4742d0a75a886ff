import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { Captured, get } from './test-io.js'

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
  const stderr = new Captured()
  child.stderr.pipe(stderr)
  const [, baseUrl = ''] = await stderr.seen(/"event":"ready".*"baseUrl":"([^"]+)"/)
  const response = await get({ baseUrl }, '/pets')
  expect(response.status).toBe(200)
  const page = await fetch(`${baseUrl.replace('/v1', '/__sandbox')}/assets/dashboard.js`)
  expect(page.status).toBe(200)
  // A body that nobody reads would hold up the stop.
  await Promise.all([response.arrayBuffer(), page.arrayBuffer()])
  process.kill(-Number(child.pid), 'SIGTERM')
  await once(child, 'close')
  return stderr.text
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
