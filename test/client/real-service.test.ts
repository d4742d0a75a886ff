import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openUpstream } from '../../src/client/upstream.js'
import { BEARER } from '../../src/contract/contract-data.js'
import { runSandbox } from '../../src/sandbox.js'
import { embeddedOptions } from '../support/embedded-options.js'
import { listenLocally } from '../support/listen-locally.js'
import { temporaryFile, temporaryFolder } from '../support/temporary-files.js'

const serving = async (reply: RequestListener) => `${await listenLocally(createServer(reply))}/v1`

/** A sandbox in front of a service that responds to each list with `list`. */
async function inFrontOf(list: { body: string; status?: number }) {
  const upstream = await serving((_request, response) => {
    response.writeHead(list.status ?? 200, { 'content-type': 'application/json' }).end(list.body)
  })
  const record = join(temporaryFolder(), 'seen')
  const upstreamApiKeyFile = temporaryFile('key', 'real')
  const warnings: string[] = []
  const given = embeddedOptions({ upstream, upstreamApiKeyFile, record })
  const sandbox = await runSandbox(given, { onWarning: (message) => warnings.push(message) })
  let isOpen = true
  const close = async () => {
    if (isOpen) await sandbox.stop('now')
    isOpen = false
  }
  onTestFinished(close)
  const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
  const ask = (path: string, init: RequestInit = {}) => fetch(sandbox.baseUrl + path, { headers, ...init })
  const control = (path: string, init: RequestInit = {}) =>
    fetch(sandbox.baseUrl.replace(/v1$/, `__sandbox${path}`), { headers, ...init })
  const recorded = async () => {
    await close()
    return JSON.parse(readFileSync(join(record, 'pets.json'), 'utf8')).map(({ id }: { id: number }) => id)
  }
  return { ask, control, warnings, recorded, upstreamApiKeyFile }
}

const REX = { method: 'POST', body: '{"name":"Rex","categoryId":1}' }
const petsOf = (...ids: number[]) => JSON.stringify(ids.map((id) => ({ id, name: `pet ${id}`, categoryId: 1 })))

it('opens 64 connections at most, lets 1,000 requests wait, and refuses others at once', async () => {
  const waiting: ServerResponse[] = []
  const answered = { isOn: false }
  const baseUrl = await serving((_request, response) => {
    if (answered.isOn) response.end('[]')
    else waiting.push(response)
  })
  const files = { apiKeyFile: undefined, caFile: undefined }
  const upstream = await openUpstream({ keyHeader: BEARER, baseUrl, ...files, timeout: 100_000, env: {} })
  onTestFinished(() => upstream.close())
  const forward = { kind: 'forward', position: 1, method: 'GET', target: '/pets', headers: [], via: '' } as const
  const outcomes = Array.from({ length: 1100 }, () =>
    upstream.send({ ...forward, authorization: undefined, body: undefined }),
  )
  const [first] = await Promise.all(outcomes.slice(1064))
  const message = expect.stringContaining('1000 more are waiting')
  expect(first).toEqual({ kind: 'failure', problem: 'upstream_busy', message })
  while (waiting.length < 64) await new Promise(setImmediate)
  expect(new Set(waiting.map(({ socket }) => socket)).size).toBe(64)
  answered.isOn = true
  for (const response of waiting) response.end('[]')
  const kinds = (await Promise.all(outcomes)).map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === 'response')).toHaveLength(1064)
})

it('passes a body above 256 KiB on unread, and warns once', async () => {
  const body = `[${'{},'.repeat(100_000)}{}]`
  const { ask, control, warnings } = await inFrontOf({ body })
  await ask('/pets', REX)
  expect(await (await ask('/pets?limit=100')).text()).toBe(body)
  await ask('/pets?limit=100')
  const { findings } = (await (await control('/drift')).json()) as { findings: { rule: string }[] }
  expect(findings.filter(({ rule }) => rule === 'body' || rule === 'query')).toEqual([])
  expect(warnings.filter((text) => text.includes('GET /pets. More than 256KiB is passed on as it is'))).toHaveLength(1)
})

it('names the key file once the service refuses its key', async () => {
  const { ask, warnings, upstreamApiKeyFile } = await inFrontOf({ body: '{}', status: 401 })
  expect((await ask('/pets')).status).toBe(401)
  await ask('/pets')
  const warning = `refused the key in --upstream-api-key-file "${upstreamApiKeyFile}"`
  expect(warnings).toEqual([expect.stringContaining(warning)])
})

it('records pets in the order of the lists', async () => {
  const list = { body: '' }
  const { ask, recorded } = await inFrontOf(list)
  for (const ids of [
    [5, 9, 2],
    [7, 9, 2],
    [11, 5],
  ]) {
    list.body = petsOf(...ids)
    await ask('/pets')
  }
  // Oldest first: fixtures are listed from their end.
  expect(await recorded()).toEqual([2, 9, 7, 5, 11])
})

it('gives an added pet an id above all ids seen', async () => {
  const theirs = 2 ** 52 + 7
  const { ask } = await inFrontOf({ body: petsOf(theirs, 3) })
  await ask('/pets')
  expect(await (await ask('/pets', REX)).json()).toMatchObject({ id: theirs + 1 })
})
