import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { transports } from '../support/transports.js'

const SPECS = join(packageDirectory, 'test/contract/specs')
const OTHER = join(SPECS, 'other-pets.yaml')
const FULLER = join(SPECS, 'fuller.yaml')

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'served-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

function changed(from: string, to: string): string {
  const file = join(folder(), 'openapi.yaml')
  const text = readFileSync(OTHER, 'utf8')
  if (!text.includes(from)) throw new Error(`the contract has no ${from}`)
  writeFileSync(file, text.replace(from, to))
  return file
}

/** Every kind of field, with numbers that a double would not keep. */
const REX = `{"name":"Rex","status":"adopted","nickname":null,"chip":9223372036854775807,"weight":9007199254740993,"tags":["a","\\"b\\""],"owner":{"id":9007199254740993,"list":[1.5,{}]},"anything":-9223372036854775808}`

describe.each(transports)('pets of another contract, %s', (_name, openSandbox) => {
  it('are answered, listed and read back as they were sent, to the digit', async () => {
    const store = join(folder(), 'store.json')
    const options = { spec: OTHER, store }
    const sandbox = await openSandbox(options)
    const answers = [await sandbox.post('/pets', REX), await sandbox.post('/pets', '{"name":"Bare"}')]
    const texts = [REX.replace('{', '{"id":60,'), '{"id":61,"name":"Bare"}']
    expect(answers.map(({ status, text }) => [status, text])).toEqual(texts.map((text) => [201, text]))
    expect((await sandbox.get('/pets/60')).text).toBe(texts[0])
    expect((await sandbox.get('/pets?status=adopted')).text).toBe(`[${texts[0]}]`)
    expect(await sandbox.control('PATCH', '/pets/60', { name: 'Max' })).toMatchObject({ status: 200 })
    expect(await sandbox.control('PUT', '/snapshots/here')).toMatchObject({ status: 200 })
    await sandbox.core.close()

    for (let start = 0; start < 2; start++) {
      const again = await openSandbox(options)
      expect((await again.get('/pets?limit=2')).text).toBe(`[${texts[1]},${texts[0]?.replace('Rex', 'Max')}]`)
      expect(await again.control('POST', '/snapshots/here/restore')).toMatchObject({ status: 200 })
      expect((await again.get('/pets/60')).text).toBe(texts[0]?.replace('Rex', 'Max'))
      await again.core.close()
    }
  })

  it('without a body, where none is required, are valid JSON and survive the next start', async () => {
    const store = join(folder(), 'store.json')
    const sandbox = await openSandbox({ spec: FULLER, store })
    const created = await sandbox.call('/v1/pets', { method: 'POST' })
    expect([created.status, created.text]).toEqual([201, '{"id":60}'])
    await sandbox.core.close()
    expect((await (await openSandbox({ spec: FULLER, store })).get('/pets/60')).text).toBe('{"id":60}')
  })

  it('are refused where they break it, and nothing of them is kept', async () => {
    const sandbox = await openSandbox({ spec: OTHER, plan: 'enterprise' })
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    for (const rest of [
      '"status":"gone"',
      '"chip":9223372036854775808',
      '"weight":-1',
      '"weight":-9007199254740993',
      '"weight":1e400',
      '"tags":[1]',
      '"owner":[]',
      `"anything":${deep}`,
      '"anything":1e400',
      '"owner":{"n":[9007199254740993.5]}',
    ]) {
      const answer = await sandbox.post('/pets', `{"name":"Rex",${rest}}`)
      expect([rest.slice(0, 40), answer.status, answer.code]).toEqual([rest.slice(0, 40), 400, 'invalid_request'])
    }
    expect(await sandbox.control('PATCH', '/pets/1', { name: 'Max' })).toMatchObject({ status: 200 })
    expect(await sandbox.post('/pets', REX)).toMatchObject({ json: { id: 60 } })
  })

  it('that it allows no longer are not shown: those to begin with are left out, and told', async () => {
    const spec = changed('name: { type: string }', 'name: { type: string, maxLength: 3 }')
    const sandbox = await openSandbox({ spec })
    const names = ((await sandbox.get('/pets?limit=100')).json as { name: string }[]).map(({ name }) => name)
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => name.length > 3)).toEqual([])
    expect(sandbox.warnings.join()).toMatch(/of the 60 pets .* left out/)
    expect(await sandbox.control('PATCH', '/pets/2', { name: 'Longer' })).toMatchObject({ status: 400 })
  })

  it('are told with their place where a store holds others', async () => {
    const store = join(folder(), 'store.json')
    const sandbox = await openSandbox({ spec: OTHER, store })
    await sandbox.post('/pets', REX)
    await sandbox.core.close()
    for (const spec of [undefined, changed(', adopted', '')]) {
      await expect(openSandbox({ store, ...(spec === undefined ? {} : { spec }) })).rejects.toMatchObject({
        code: 'STORE_CORRUPT',
        message: expect.stringMatching(/pets\[60\]|line \d+: pet/),
      })
    }
  })

  it('come from the fixtures of whoever has such a contract', async () => {
    const fixtures = folder()
    writeFileSync(join(fixtures, 'pets.json'), `[${REX.replace('{', '{"id":1,')}]`)
    const sandbox = await openSandbox({ spec: OTHER, fixtures })
    expect((await sandbox.get('/pets')).text).toBe(`[${REX.replace('{', '{"id":1,')}]`)
    writeFileSync(join(fixtures, 'pets.json'), '[{"id":1}]')
    await expect(openSandbox({ spec: OTHER, fixtures })).rejects.toMatchObject({
      code: 'FIXTURES_INVALID',
      message: expect.stringMatching(/\[0\].*name is required/),
    })
  })
})

describe('a contract that the sandbox cannot serve is refused at the start, with the place:', () => {
  const [[, openSandbox]] = transports as [(typeof transports)[number]]
  it.each([
    [
      'no id',
      'properties: { id: { type: integer, format: int64 } }',
      'properties: { key: { type: integer } }',
      'components.schemas.Pet must have a field "id"',
    ],
    [
      'an id that is no integer',
      'properties: { id: { type: integer, format: int64 } }',
      'properties: { id: { type: string } }',
      'components.schemas.Pet must have an integer',
    ],
    [
      'a list that is no array',
      'schema: { type: array, items: { $ref: "#/components/schemas/Pet" } }',
      'schema: { type: object, properties: { items: { type: array } } }',
      'paths./pets.get must answer 200 with an array',
    ],
    [
      'an answer that needs more than is sent',
      'required: [id]',
      'required: [id, chip]',
      'components.schemas.Pet requires "chip"',
    ],
    [
      'a body that may be left out',
      'required: true\n        content',
      'content',
      'components.schemas.Pet requires "name"',
    ],
    [
      'a path parameter that is no integer',
      'required: true, schema: { type: integer, format: int64 }',
      'required: true, schema: { type: string }',
      'paths./pets/{id}.get must have one path parameter',
    ],
    [
      'a limit that is no number',
      'name: limit, in: query, schema: { type: integer }',
      'name: limit, in: query, schema: { type: string }',
      'paths./pets.get.parameters[1].schema must be an integer',
    ],
    ['no 201', '"201": {', '"200": {', 'paths./pets.post must document the status 201'],
  ])('%s', async (_what, from, to, message) => {
    const spec = changed(from, to)
    await expect(openSandbox({ spec })).rejects.toMatchObject({
      code: 'SPEC_INVALID',
      message: expect.stringContaining(`${spec}: ${message}`),
    })
  })
})
