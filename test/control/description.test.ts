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

  it('is beside the contract that is served, as YAML and as JSON', async () => {
    await using sandbox = await startSandbox()
    const yaml = parse(await (await fetch(`${sandbox.controlUrl}/openapi.yaml`)).text())
    const json = await (await fetch(`${sandbox.controlUrl}/openapi.json`)).json()
    expect(json).toEqual(yaml)
    expect(Object.keys(yaml.paths)).toContain('/pets/{petId}')
  })
})
