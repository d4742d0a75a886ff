import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../src/index.js'
import { temporaryFolder } from '../support/temporary-files.js'

const PROJECTS = fileURLToPath(new URL('../contract/specs/projects.yaml', import.meta.url))
const GROWN = fileURLToPath(new URL('../contract/specs/items.yaml', import.meta.url))

async function open(options: SandboxOptions) {
  const sandbox = await createSandbox({ spec: PROJECTS, ...options })
  onTestFinished(() => sandbox.close())
  const send = (path: string, init: RequestInit = {}) =>
    sandbox.fetch(sandbox.baseUrl + path, { ...init, headers: { authorization: 'Bearer sandbox' } })
  return { ...sandbox, send }
}

describe('the packaged scenarios with another contract', () => {
  it.each([
    ['sunset', '1m', 404],
    ['brownout', '10s', 410],
  ] as const)('%s removes its deprecated operation after %s', async (scenario, by, status) => {
    const { clock, send } = await open({ scenario, freeze: true, generate: ['projects=1', 'tasks=1'] })
    const tasks = (await (await send('/projects/1/tasks')).json()) as { data: { id: string }[] }
    const task = `/projects/1/tasks/${tasks.data[0]?.id}`
    expect((await send(task)).status).toBe(200)
    await clock.advance(by)
    const removed = await send(task)
    expect([removed.status, removed.headers.get('x-sandbox-reason')]).toEqual([status, scenario])
  })

  it('applies sunset to a running sandbox, and refuses it where no operation is removed', async () => {
    const { scenario, clock } = await open({})
    await scenario('sunset')
    expect((await clock.show()).now).toMatch(/^2031-05-31T23:59:00/)
    const message = /no operation of the contract has x-deprecated-sunset/
    await expect(open({ spec: GROWN, scenario: 'sunset' })).rejects.toThrow(message)
    const other = await open({ spec: GROWN })
    await expect(other.scenario('brownout')).rejects.toThrow(message)
  })
})

it('a contract without keys gets no findings about keys, and its requests count as traffic', async () => {
  const list = { operationId: 'listBooks', responses: { 200: { description: 'All.' } } }
  const spec = join(temporaryFolder(), 'books.json')
  const info = { title: 'Books', version: '1' }
  writeFileSync(spec, JSON.stringify({ openapi: '3.1.0', info, paths: { '/books': { get: list } } }))
  await using sandbox = await createSandbox({ spec })
  await sandbox.fetch(`${sandbox.baseUrl}/books`)
  expect(await sandbox.conduct()).toMatchObject({ requests: 1, reached: 1, violations: [] })
})
