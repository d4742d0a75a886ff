import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { VERBS } from '../../src/control/verbs.js'
import { startSandbox } from '../../src/index.js'
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

it("the control plane's own description has a schema and a valid example for each response of each operation", () => {
  const { paths, components } = controlDocument
  for (const [path, operations] of Object.entries(paths))
    for (const [method, { responses }] of Object.entries(operations))
      for (const [status, { $ref = '', content }] of Object.entries(responses)) {
        const [[type, media] = []] = Object.entries(
          content ?? components.responses[$ref.split('/')[3] ?? '']?.content ?? {},
        )
        expect(media).toHaveProperty('schema')
        expect(media).toHaveProperty('example')
        if (type === 'application/json')
          expect(controlViolations(method, path, Number(status.replace('XX', '00')), media?.example)).toEqual([])
      }
})

it("the control plane's own description describes the 503 of a replica without its log", () => {
  const body = { status: 'degraded', version: '1', pid: 1, startedAt: '', reason: '', position: 1, lagMs: 1 }
  expect(controlViolations('GET', '/health', 503, body)).toEqual([])
  expect(controlViolations('GET', '/health', 200, body)).not.toEqual([])
})
