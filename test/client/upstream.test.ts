import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { openUpstream } from '../../src/client/upstream.js'
import { BEARER } from '../../src/contract/contract-data.js'
import type { UpstreamRequest } from '../../src/domain/upstream.js'
import { listenLocally } from '../support/listen-locally.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'
import { temporaryFile } from '../support/temporary-files.js'

const LIST: UpstreamRequest = {
  method: 'GET',
  target: '/pets',
  headers: [],
  isKnown: true,
  authorization: undefined,
  body: undefined,
  via: '',
}

async function inFrontOf(reply: RequestListener, apiKeyFile?: string) {
  const baseUrl = `${await listenLocally(createServer(reply))}/v1`
  const warnings: string[] = []
  const options = { keyHeader: BEARER, apiKeyFile, writes: 'refuse', timeout: STEP_PATIENCE_MS } as const
  const warn = (message: string) => warnings.push(message)
  const upstream = await openUpstream({ ...options, baseUrl, env: {}, warn })
  onTestFinished(() => upstream.close())
  return { upstream, warnings, baseUrl }
}

it('opens 64 connections at most, lets 1,000 requests wait, and refuses others at once', async () => {
  const waiting: ServerResponse[] = []
  const answered = { isOn: false }
  const { upstream } = await inFrontOf((_request, response) => {
    if (answered.isOn) response.end('[]')
    else waiting.push(response)
  })
  const outcomes = Array.from({ length: 1100 }, () => upstream.send(LIST))
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

it('names the key file once the service refuses its key, and never for the key of a client', async () => {
  const file = temporaryFile('key', 'real')
  const { upstream, warnings, baseUrl } = await inFrontOf((_request, response) => response.writeHead(401).end(), file)
  await upstream.send({ ...LIST, isKnown: false, authorization: 'Bearer own' })
  expect(warnings).toEqual([])
  for (let i = 0; i < 2; i++) await upstream.send(LIST)
  expect(warnings).toEqual([
    expect.stringContaining(`${baseUrl} refused the key in --upstream-api-key-file "${file}" with 401`),
  ])
})
