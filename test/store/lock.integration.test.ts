import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { acquireLock, ownIdentity } from '../../src/store/lock.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { messageOf, startChild } from './child.js'
import { aStore, Owner } from './owner.js'

const isLinux = process.platform === 'linux'

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
    await owner.store.close()
    expect(existsSync(`${file}.lock`)).toBe(false)
    const again = await Owner.open(file)
    await again.store.close()
  })

  it('is refused to another process, which names the holder, and is free once that is killed', async () => {
    const path = join(temporaryFolder(), 'store.json.lock')
    const child = startChild('lock-contender.ts')
    await messageOf(child)
    child.send({ verb: 'acquire', path })
    expect(await messageOf(child)).toBe('won')
    expect(() => acquireLock(path)).toThrow(`process ${child.pid}`)
    child.kill('SIGKILL')
    await once(child, 'exit')
    acquireLock(path).release()
  })
})

describe('a lock left behind', () => {
  it('by an ended process is ignored', async () => {
    const path = join(temporaryFolder(), 'store.json.lock')
    writeFileSync(path, JSON.stringify({ pid: await endedPid() }))
    const lock = acquireLock(path)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(ownIdentity())
    lock.release()
  })

  it.runIf(isLinux)('is ignored if its pid belongs to another process', () => {
    const folder = temporaryFolder()
    const path = join(folder, 'store.json.lock')
    for (const pid of [process.pid, process.ppid]) {
      writeFileSync(path, JSON.stringify({ pid, started: 'an earlier boot/1' }))
      acquireLock(path).release()
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
    acquireLock(path).release()
    parent.kill()
  })

  it.each(['', '{', '{}', '{"pid":-1}', '\0\0\0', 'null'])('without a process (%j) is ignored', (text) => {
    const path = join(temporaryFolder(), 'store.json.lock')
    writeFileSync(path, text)
    acquireLock(path).release()
  })

  it('by a process that ended during a takeover is ignored', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'store.json.lock')
    const text = JSON.stringify({ pid: await endedPid() })
    writeFileSync(path, text)
    writeFileSync(`${path}.takeover`, text)
    acquireLock(path).release()
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
