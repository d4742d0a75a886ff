import { expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Verb } from '../../src/control/verb.js'
import type { VerbName } from '../../src/control/verb-map.js'
import { verbRequest } from '../../src/control/verb-request.js'
import { VERBS } from '../../src/control/verbs.js'
import { createSandbox, startSandbox } from '../../src/index.js'
import { controlDocument, controlViolations } from '../support/control-check.js'

it("the control plane's own description has every verb at its path", async () => {
  await using sandbox = await startSandbox()
  const text = await (await fetch(`${sandbox.controlUrl}/control.openapi.yaml`)).text()
  expect(parse(text)).toEqual(controlDocument)
  const { openapi, paths } = controlDocument
  expect(openapi).toBe('3.1.0')
  for (const [name, { method, path }] of Object.entries(VERBS)) {
    expect(paths[path]?.[method.toLowerCase()]?.operationId).toBe(name)
  }
  const parts = { properties: { rate: { type: 'number' }, for: { type: 'string' } } }
  const schema = { anyOf: [{ type: 'string' }, { type: 'number' }, parts] }
  expect(paths['/storm']?.put).toMatchObject({ requestBody: { content: { 'application/json': { schema } } } })
})

it("the control plane's own description has a schema for each response of each operation", () => {
  const { paths, components } = controlDocument
  for (const [path, operations] of Object.entries(paths))
    for (const [method, { responses }] of Object.entries(operations))
      for (const [status, { $ref = '', content }] of Object.entries(responses)) {
        const [[type, media] = []] = Object.entries(
          content ?? components.responses[$ref.split('/')[3] ?? '']?.content ?? {},
        )
        expect(media).toHaveProperty('schema')
        if (type === 'application/json' && media?.example !== undefined)
          expect(controlViolations(method, path, Number(status.replace('XX', '00')), media.example)).toEqual([])
      }
})

it("the control plane's own description describes the 503 of a replica without its log", () => {
  const body = { status: 'degraded', version: '1', pid: 1, startedAt: '', reason: '', position: 1, lagMs: 1 }
  expect(controlViolations('GET', '/health', 503, body)).toEqual([])
  expect(controlViolations('GET', '/health', 200, body)).not.toEqual([])
})

it.each(Object.keys(VERBS) as VerbName[])(
  'the example of %s runs, and its response fits the description',
  async (name) => {
    await using sandbox = await createSandbox({ now: '2026-03-01T12:00:00Z', freeze: true })
    const call = async (verb: VerbName, input: object, space = '') => {
      const { method, address, body } = verbRequest(VERBS[verb], space, input)
      const response = await sandbox.fetch(sandbox.controlUrl + address, { method, body: body ?? null })
      return [response.status, controlViolations(method, address, response.status, await response.json())]
    }
    const headers = { authorization: 'Bearer sandbox' }
    await sandbox.fetch(`${sandbox.baseUrl}/pets?limit=${name === 'conduct.expect' ? 0 : 1}`, { headers })
    await call('keys.add', { key: 'team-a' })
    await call('snapshots.save', { name: 'full-basket' })
    await call('settings.change', {}, 'checkout')
    await call(name === 'undo' ? 'reset' : 'storm.start', {})
    const { example = {} }: Verb = VERBS[name]
    // The id of an undo is not known before.
    expect(await call(name, name === 'undo' ? {} : example, name === 'spaces.copy' ? 'refunds' : '')).toEqual([200, []])
  },
)
