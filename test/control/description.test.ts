import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { VERBS } from '../../src/control/verbs.js'
import { startSandbox } from '../../src/index.js'

interface Description {
  readonly openapi: string
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string; readonly requestBody?: object }>>>
  >
}

describe("the control plane's own description", () => {
  it('has every verb at its path', async () => {
    await using sandbox = await startSandbox()
    const text = await (await fetch(`${sandbox.controlUrl}/control.openapi.yaml`)).text()
    const { openapi, paths }: Description = parse(text)
    expect(openapi).toBe('3.1.0')
    for (const [name, { method, path }] of Object.entries(VERBS)) {
      expect(paths[path]?.[method.toLowerCase()]?.operationId).toBe(name)
    }
    expect(paths['/storm']?.put?.requestBody).toMatchObject({
      content: {
        'application/json': { schema: { properties: { rate: { type: 'number' }, for: { type: 'string' } } } },
      },
    })
  })

  it('describes the 503 of a replica without its log', async () => {
    await using sandbox = await startSandbox()
    const text = await (await fetch(`${sandbox.controlUrl}/control.openapi.yaml`)).text()
    const { responses } = parse(text).paths['/health'].get
    const statusIn = (code: string) => responses[code].content['application/json'].schema.properties.status
    expect([statusIn('200'), statusIn('503')]).toMatchObject([{ const: 'healthy' }, { const: 'degraded' }])
  })

  it('is served beside the contract in YAML and JSON', async () => {
    await using sandbox = await startSandbox()
    const yaml = parse(await (await fetch(`${sandbox.controlUrl}/openapi.yaml`)).text())
    const json = await (await fetch(`${sandbox.controlUrl}/openapi.json`)).json()
    expect(json).toEqual(yaml)
    expect(Object.keys(yaml.paths)).toContain('/pets/{petId}')
  })
})
