import { type SpawnOptionsWithStdioTuple, spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { membersAmong, type ProcessFacts, processes } from '../../../src/cli/exec/processes.js'

const SELF = 100
const GROUP = 90

function one(pid: number, facts: Partial<ProcessFacts> = {}): ProcessFacts {
  return { pid, parent: 1, group: GROUP, isZombie: false, isMarked: false, ...facts }
}

it.each<[string, readonly ProcessFacts[], readonly number[]]>([
  ['a child', [one(101, { parent: SELF })], [101]],
  ['a grandchild', [one(101, { parent: SELF }), one(102, { parent: 101 })], [101, 102]],
  ['an orphan with the mark', [one(102, { isMarked: true })], [102]],
  ['no stranger of the group, such as the next command of a pipeline', [one(91)], []],
  ['no daemon that went its own way', [one(102, { isMarked: true, group: 102 })], []],
  ['no zombie', [one(101, { parent: SELF, isZombie: true })], []],
  ['no process that is its own ancestor', [one(102, { parent: 103 }), one(103, { parent: 102 })], []],
])('the family of a command on a terminal has %s', (_, others, members) => {
  expect(membersAmong([one(SELF, { isMarked: true }), one(GROUP), ...others], SELF)).toEqual(members)
})

describe.runIf(process.platform === 'linux' || process.platform === 'darwin')('processes of this machine', () => {
  const marked = (url: string): SpawnOptionsWithStdioTuple<'ignore', 'pipe', 'ignore'> => ({
    env: { ...process.env, PETSTORE_SANDBOX_URL: url },
    stdio: ['ignore', 'pipe', 'ignore'],
  })

  it('are known by parent, group and mark', async () => {
    const url = `http://127.0.0.1:0/${process.pid}`
    const child = spawn(process.execPath, ['-e', 'console.log(); setInterval(() => {}, 1000)'], marked(url))
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    const all = processes(`PETSTORE_SANDBOX_URL=${url}`)
    const own = all.find(({ pid }) => pid === process.pid)
    expect(own).toMatchObject({ isZombie: false, isMarked: false })
    const facts = { pid: child.pid, parent: process.pid, group: own?.group, isZombie: false, isMarked: true }
    expect(all.find(({ pid }) => pid === child.pid)).toEqual(facts)
  })

  it.runIf(process.platform === 'linux')('are members still when their parent is gone', async () => {
    const url = `http://127.0.0.1:0/orphan-${process.pid}`
    const shell = spawn('/bin/sh', ['-c', 'sleep 1000 & echo $!'], marked(url))
    const exited = once(shell, 'exit')
    const [said] = await once(shell.stdout, 'data')
    const orphan = Number(String(said))
    onTestFinished(() => void process.kill(orphan, 'SIGKILL'))
    await exited
    expect(membersAmong(processes(`PETSTORE_SANDBOX_URL=${url}`), process.pid)).toContain(orphan)
    expect(membersAmong(processes('PETSTORE_SANDBOX_URL=elsewhere'), process.pid)).not.toContain(orphan)
  })
})
