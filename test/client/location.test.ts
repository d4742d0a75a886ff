import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readLocation } from '../../src/client/location.js'
import { LOCATOR, writeLocator } from '../../src/client/locator-file.js'
import { temporaryFolder } from '../support/temporary-files.js'

const location = {
  baseUrl: 'http://127.0.0.1:4010/v1',
  controlUrl: 'http://127.0.0.1:4010/__sandbox',
  pid: 4711,
  startedAt: '2026-03-01T10:00:00Z',
}
const ANOTHER_USER = 65_534

function located(): string {
  const folder = temporaryFolder()
  writeLocator(folder, location)
  return folder
}

it('a locator is found in its folder and below', () => {
  const folder = located()
  mkdirSync(join(folder, 'app/src'), { recursive: true })
  expect(readLocation(folder)).toEqual(location)
  expect(readLocation(join(folder, 'app/src'))).toEqual(location)
})

it('the newest of several running sandboxes is found, and after its end the one before it', () => {
  const folder = temporaryFolder()
  const [first, second, third] = ['1', '2', '3'].map((startedAt) => ({ ...location, pid: process.pid, startedAt }))
  const withdraw = [first, second, third].map((one) => writeLocator(folder, one as typeof location))
  expect(readLocation(folder)).toEqual(third)
  withdraw[1]?.()
  expect(readLocation(folder)).toEqual(third)
  withdraw[2]?.()
  expect(readLocation(folder)).toEqual(first)
  withdraw[0]?.()
  expect(readLocation(folder)).toBeUndefined()
})

it('a sandbox that still runs is found before a newer one whose process has ended', () => {
  const folder = temporaryFolder()
  const running = { ...location, pid: process.pid }
  writeLocator(folder, running)
  writeLocator(folder, { ...location, pid: 2 ** 22 + 1, startedAt: 'later' })
  expect(readLocation(folder)).toEqual(running)
})

it.runIf(process.platform === 'linux')('an earlier process with the pid of this one counts as ended', () => {
  const folder = temporaryFolder()
  const running = { ...location, pid: process.pid }
  writeLocator(folder, running)
  const file = join(folder, LOCATOR)
  const earlier = { ...running, startedAt: 'earlier', processStart: '1' }
  writeFileSync(file, JSON.stringify({ ...earlier, older: [JSON.parse(readFileSync(file, 'utf8'))] }))
  expect(readLocation(folder)).toEqual(running)
  writeLocator(folder, { ...running, startedAt: 'later' })
  expect(readFileSync(file, 'utf8')).not.toContain('earlier')
})

describe.skipIf(process.platform === 'win32')('a locator that another user may have planted is ignored', () => {
  it.each([LOCATOR, dirname(LOCATOR)])('because others may write to %s', (path) => {
    const folder = located()
    chmodSync(join(folder, path), path === LOCATOR ? 0o666 : 0o777)
    expect(readLocation(folder)).toBeUndefined()
  })

  it('because it is a link', () => {
    const folder = temporaryFolder()
    symlinkSync(join(located(), dirname(LOCATOR)), join(folder, dirname(LOCATOR)))
    expect(readLocation(folder)).toBeUndefined()
  })

  it.runIf(process.getuid?.() === 0).each([LOCATOR, dirname(LOCATOR)])('because %s belongs to another user', (path) => {
    const folder = located()
    chownSync(join(folder, path), ANOTHER_USER, ANOTHER_USER)
    expect(readLocation(folder)).toBeUndefined()
  })

  it.runIf(process.getuid?.() === 0)('because it is above a folder of another user', () => {
    const folder = located()
    mkdirSync(join(folder, 'theirs/mine'), { recursive: true })
    chownSync(join(folder, 'theirs'), ANOTHER_USER, ANOTHER_USER)
    expect(readLocation(join(folder, 'theirs/mine'))).toBeUndefined()
  })
})

it('a link in the place of the locator, or of a draft of it, is not written through', () => {
  const folder = temporaryFolder()
  const elsewhere = join(temporaryFolder(), '.bashrc')
  writeFileSync(elsewhere, 'mine')
  mkdirSync(join(folder, dirname(LOCATOR)))
  symlinkSync(elsewhere, join(folder, LOCATOR))
  expect(() => writeLocator(folder, location)).toThrow('it is a symbolic link, not a file')
})
