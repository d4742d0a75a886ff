import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { existsSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { acquireLock, ownIdentity } from '../../src/store/lock.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { messageOf, startChild } from './child.js'
import { aStore, Owner, put } from './owner.js'

const run = promisify(execFile)
const isLinux = process.platform === 'linux'

async function acquireAndRelease(path: string): Promise<void> {
  const lock = await acquireLock(path)
  lock.release()
}

async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid ?? 0
}

describe('a store in use', () => {
  it('is refused to the same process, with the file and advice', async () => {
    const { file, owner } = await aStore()
    await expect(Owner.open(file)).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringMatching(/this process.*store\.json\.lock.*--store/),
    })
    owner.store.close()
    expect(existsSync(`${file}.lock`)).toBe(false)
    const again = await Owner.open(file)
    again.store.close()
  })

  it('is refused to another process, which names the holder, and is free once that is killed', async () => {
    const path = join(temporaryFolder(), 'store.json.lock')
    const child = startChild('lock-contender.ts')
    await messageOf(child)
    child.send({ verb: 'acquire', path })
    expect(await messageOf(child)).toBe('won')
    await expect(acquireLock(path)).rejects.toThrow(`process ${child.pid}`)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await acquireAndRelease(path)
  })
})

describe('a lock left behind', () => {
  it('by an ended process is ignored', async () => {
    const path = join(temporaryFolder(), 'store.json.lock')
    writeFileSync(path, JSON.stringify({ pid: await endedPid() }))
    const lock = await acquireLock(path)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(ownIdentity())
    lock.release()
  })

  it.runIf(isLinux)('is ignored if its pid belongs to another process', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'store.json.lock')
    for (const pid of [process.pid, process.ppid]) {
      writeFileSync(path, JSON.stringify({ pid, started: 'an earlier boot/1' }))
      await acquireAndRelease(path)
    }
    expect(readdirSync(folder)).toEqual([])
  })

  it.runIf(isLinux)('is ignored if its holder is a zombie', async () => {
    const path = join(temporaryFolder(), 'store.json.lock')
    // The shell's child exits and is never reaped.
    const parent = spawn('sh', ['-c', 'sh -c "echo \\$\\$" & exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] })
    const [line] = await once(parent.stdout, 'data')
    const pid = Number(String(line))
    while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) await new Promise(setImmediate)
    writeFileSync(path, JSON.stringify({ pid }))
    await acquireAndRelease(path)
    parent.kill()
  })

  it.each(['', '{', '{}', '{"pid":-1}', '\0\0\0', 'null'])('without a process (%j) is ignored', async (text) => {
    const path = join(temporaryFolder(), 'store.json.lock')
    writeFileSync(path, text)
    await acquireAndRelease(path)
  })

  it('by a process that ended during a takeover is ignored', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'store.json.lock')
    const text = JSON.stringify({ pid: await endedPid() })
    writeFileSync(path, text)
    writeFileSync(`${path}.takeover`, text)
    await acquireAndRelease(path)
    expect(readdirSync(folder)).toEqual([])
  })

  it('is taken over by one of many processes', async () => {
    const path = join(temporaryFolder(), 'store.json.lock')
    const children = Array.from({ length: 4 }, () => startChild('lock-contender.ts'))
    await Promise.all(children.map(messageOf))
    const dead = JSON.stringify({ pid: await endedPid() })
    for (let round = 0; round < 200; round++) {
      writeFileSync(path, dead)
      const outcomes = Promise.all(children.map(messageOf))
      for (const child of children) child.send({ verb: 'acquire', path })
      expect((await outcomes).toSorted()).toEqual(['STORE_LOCKED', 'STORE_LOCKED', 'STORE_LOCKED', 'won'])
      const released = Promise.all(children.map(messageOf))
      for (const child of children) child.send({ verb: 'release', path })
      await released
    }
  })
})

/** A process of a container: its pid, and so its lock, means nothing outside. */
const container = { pid: 1, started: '1', host: 'container', namespace: 'another boot pid:[1]' }

describe('a lock of another container or machine', () => {
  it('is respected while its holder touches it', async () => {
    const path = join(temporaryFolder(), 'store.json.lock')
    writeFileSync(path, JSON.stringify(container))
    const heartbeat = setInterval(() => utimesSync(path, new Date(), new Date()), 200)
    await expect(acquireLock(path)).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringContaining('process 1 of another container or machine, "container"'),
    })
    clearInterval(heartbeat)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(container)
  })

  it('is taken over once its holder has been silent for some time', async () => {
    const path = join(temporaryFolder(), 'store.json.lock')
    writeFileSync(path, JSON.stringify(container))
    const lock = await acquireLock(path, { maxSilence: 20 })
    lock.release()
    expect(existsSync(path)).toBe(false)
  })

  it('of the same host is taken over at once if it is old', async () => {
    const path = join(temporaryFolder(), 'store.json.lock')
    writeFileSync(path, JSON.stringify({ ...container, host: hostname() }))
    utimesSync(path, new Date(0), new Date(0))
    await acquireAndRelease(path)
    expect(existsSync(path)).toBe(false)
  })

  it('is not acknowledged by a holder that was silent for too long', async () => {
    const { file, owner } = await aStore()
    renameSync(`${file}.lock`, `${file}.lock-of-before`)
    writeFileSync(`${file}.lock`, JSON.stringify(container))
    const pet = { id: 9, name: 'Late', categoryId: 1 }
    expect(() => owner.change(put(pet))).toThrow(expect.objectContaining({ code: 'STORE_WRITE_FAILED' }))
    owner.store.close()
    expect(JSON.parse(readFileSync(`${file}.lock`, 'utf8'))).toEqual(container)
  })
})

const LOCK = JSON.stringify(new URL('../../src/store/lock.ts', import.meta.url))

/** Runs a program that takes a lock in other namespaces. @returns `won` or the code of its failure, by line */
async function outcomesIn(namespaces: readonly string[], path: string, andThen = ''): Promise<readonly string[]> {
  const script = `
    const { acquireLock } = await import(${LOCK})
    await acquireLock(${JSON.stringify(path)}).then(() => console.log('won'), ({ code }) => console.log(code))
    ${andThen}
    process.exit()`
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script]
  const { stdout } = await run('unshare', [...namespaces, '--fork', ...node])
  return stdout.trim().split('\n')
}

describe.runIf(isLinux && process.getuid?.() === 0)('a store in use is refused', () => {
  it.each([
    ['another pid namespace', ['--pid', '--mount-proc']],
    ['another pid namespace that sees the same /proc', ['--pid']],
    ['another time namespace', ['--time', '--boottime', '100000']],
  ])('to a process of %s', async (_what, namespaces) => {
    const path = join(temporaryFolder(), 'store.json.lock')
    const lock = await acquireLock(path)
    expect(await outcomesIn(namespaces, path)).toEqual(['STORE_LOCKED'])
    lock.release()
  })

  it.each([
    ['a pid namespace', ['--pid', '--mount-proc']],
    ['a pid namespace without its own /proc', ['--pid']],
    ['a time namespace', ['--time', '--boottime', '100000']],
  ])('to the second process of %s, and to the first again', async (_what, namespaces) => {
    const path = join(temporaryFolder(), 'store.json.lock')
    const second = `
      const { execFile } = await import('node:child_process')
      const { promisify } = await import('node:util')
      const again = "const { acquireLock } = await import(" + ${JSON.stringify(LOCK)} + ");"
        + "await acquireLock(" + ${JSON.stringify(JSON.stringify(path))} + ").then(() => console.log('won'), ({ code }) => console.log(code)); process.exit()"
      const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', again])
      console.log(stdout.trim())
      await acquireLock(${JSON.stringify(path)}).then(() => console.log('won'), ({ code }) => console.log(code))`
    expect(await outcomesIn(namespaces, path, second)).toEqual(['won', 'STORE_LOCKED', 'STORE_LOCKED'])
  })
})

describe('a lock that cannot be touched', () => {
  it('warns once, and the holder goes on', async () => {
    const { file, owner } = await aStore()
    let attempts = 0
    const touched = new Promise<void>((resolve) => {
      vi.spyOn(fs, 'futimesSync').mockImplementation(() => {
        if (++attempts === 2) setImmediate(resolve)
        throw Object.assign(new Error('EROFS: read-only file system, futime'), { code: 'EROFS' })
      })
    })
    syncBuiltinESMExports()
    onTestFinished(() => {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    })
    await touched
    const pet = { id: 9, name: 'Kept', categoryId: 1 }
    owner.change(put(pet))
    owner.store.close()
    expect(owner.warnings).toEqual([expect.stringMatching(/store\.json\.lock" cannot be touched \(EROFS: .*restart/)])
    expect(readFileSync(file, 'utf8')).toContain('Kept')
  })
})

it('a holder that loses the store while it folds changes nothing that the new one has written', async () => {
  const { file, owner } = await aStore()
  const pet = { id: 9, name: 'Late', categoryId: 1 }
  owner.change(put(pet))
  const found = { document: readFileSync(file), journal: readFileSync(`${file}.journal`) }
  // As if another process had taken it over while the new document was being written.
  const { state } = owner
  Object.defineProperty(owner, 'state', {
    get() {
      renameSync(`${file}.lock`, `${file}.lock-of-before`)
      writeFileSync(`${file}.lock`, JSON.stringify(container))
      return state
    },
  })
  owner.store.close()
  expect({ document: readFileSync(file), journal: readFileSync(`${file}.journal`) }).toEqual(found)
  expect(owner.warnings).toEqual([expect.stringContaining('its lock file was removed or taken over')])
})
