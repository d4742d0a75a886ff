import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFile, temporaryFolder } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

const SPECS = join(packageDirectory, 'test/contract/specs')
const OTHER = join(SPECS, 'other-pets.yaml')
const FULLER = join(SPECS, 'fuller.yaml')

const TAGS = 'tags: { type: array, items: { type: string } }'

function changed(from: string, to: string): string {
  const text = readFileSync(OTHER, 'utf8')
  if (!text.includes(from)) throw new Error(`the contract has no ${from}`)
  return temporaryFile('openapi.yaml', text.replace(from, to))
}

/** Every kind of field, with numbers that a double would not keep. */
const REX = `{"name":"Rex","status":"adopted","nickname":null,"chip":9223372036854775807,"weight":9007199254740993,"tags":["a","\\"b\\""],"owner":{"id":9007199254740993,"list":[1.5,{}]},"anything":-9223372036854775808}`

describe.each(transports)('pets of another contract, %s', (_name, openSandbox) => {
  it('are answered, listed and read back as they were sent, to the digit', async () => {
    const store = join(temporaryFolder(), 'store.json')
    const options = { spec: OTHER, store }
    const sandbox = await openSandbox(options)
    const answers = [await sandbox.post('/pets', REX), await sandbox.post('/pets', '{"name":"Bare"}')]
    const texts = [REX.replace('{', '{"id":1,'), '{"id":2,"name":"Bare","nickname":null}']
    expect(answers.map(({ status, text }) => [status, text])).toEqual(texts.map((text) => [201, text]))
    expect((await sandbox.get('/pets/1')).text).toBe(texts[0])
    expect((await sandbox.get('/pets?status=adopted')).text).toBe(`[${texts[0]}]`)
    expect(await sandbox.control('PATCH', '/resources/pets/1', { name: 'Max' })).toMatchObject({ status: 200 })
    expect(await sandbox.control('PUT', '/snapshots/here')).toMatchObject({ status: 200 })
    await sandbox.core.close()

    for (let start = 0; start < 2; start++) {
      const again = await openSandbox(options)
      expect((await again.get('/pets?limit=2')).text).toBe(`[${texts[1]},${texts[0]?.replace('Rex', 'Max')}]`)
      expect(await again.control('POST', '/snapshots/here/restore')).toMatchObject({ status: 200 })
      expect((await again.get('/pets/1')).text).toBe(texts[0]?.replace('Rex', 'Max'))
      await again.core.close()
    }
  })

  it('without a body, where none is required, are valid JSON and survive the next start', async () => {
    const store = join(temporaryFolder(), 'store.json')
    const sandbox = await openSandbox({ spec: FULLER, store })
    const created = await sandbox.post('/pets', undefined)
    expect([created.status, created.text]).toEqual([201, '{"id":1}'])
    await sandbox.core.close()
    expect((await (await openSandbox({ spec: FULLER, store })).get('/pets/1')).text).toBe('{"id":1}')
  })

  it('keep no fields that a nested object does not declare, as with fields of their own', async () => {
    const shop = '{ type: object, properties: { town: { type: string }, open: { type: object } } }'
    const sandbox = await openSandbox({
      spec: changed(TAGS, `${TAGS}\n        shops: { type: array, items: ${shop} }`),
    })
    const sent = '{"name":"Rex","no":1,"shops":[{"town":"Bern","no":{"a":1},"open":{"any":2}}]}'
    const answer = '{"id":1,"name":"Rex","nickname":null,"shops":[{"town":"Bern","open":{"any":2}}]}'
    expect((await sandbox.post('/pets', sent)).text).toBe(answer)
    expect((await sandbox.get('/pets/1')).text).toBe(answer)
    expect(JSON.stringify(await sandbox.control('GET', '/conduct'))).toContain('shops[0].no')
  })

  it.each([
    ['date', '2026-02-28', '2026-02-30', 'a date such as 2026-01-31'],
    ['date-time', '2026-02-28T10:00:00.5+02:00', '2026-02-28 10:00:00', 'a date with time such as'],
    ['email', 'rex@example.com', 'rex', 'an email address'],
    ['uri', 'urn:isbn:0451450523', 'example.com/rex', 'a URI'],
    ['uuid', '5f0c6a6e-8f5e-4a3c-9a39-0a9b1c2d3e4f', '5f0c6a6e', 'a UUID'],
  ])('have a text in the format %s as its format has it', async (format, good, bad, words) => {
    const sandbox = await openSandbox({ spec: changed(TAGS, TAGS.replace('string }', `string, format: ${format} }`)) })
    expect((await sandbox.post('/pets', { name: 'Rex', tags: [good] })).status).toBe(201)
    const { status, text } = await sandbox.post('/pets', { name: 'Rex', tags: [bad] })
    expect([status, text]).toEqual([400, expect.stringContaining(`tags[0] must be ${words}`)])
  })

  it('are rejected with 400 if they violate it, or could not be given back to the digit, and not stored', async () => {
    const sandbox = await openSandbox({ spec: OTHER, limits: '1000/min' })
    for (const [name, value] of [
      ['status', '"gone"'],
      ['chip', '9223372036854775808'],
      ['weight', '-9007199254740993'],
      ['weight', '1e400'],
      ['weight', '0.12345678901234567890'],
      ['weight', '123456789012345678901e20'],
      ['owner', '[]'],
      ['owner', '{"n":[9007199254740993.5]}'],
      ['anything', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ] as const) {
      const { status, code, text } = await sandbox.post('/pets', `{"name":"Rex","${name}":${value}}`)
      expect([value.slice(0, 40), status, code]).toEqual([value.slice(0, 40), 400, 'invalid_request'])
      if (value.length < 100) expect(text).toContain(name)
    }
    expect(await sandbox.post('/pets', REX)).toMatchObject({ json: { id: 1 } })
    expect(await sandbox.control('PATCH', '/resources/pets/1', { name: 'Max' })).toMatchObject({ status: 200 })
  })

  it('are none at the start: the packaged fixtures belong to the packaged contract', async () => {
    const sandbox = await openSandbox({ spec: OTHER })
    expect((await sandbox.get('/pets')).json).toEqual([])
    expect(sandbox.warnings).toEqual([])
  })

  it('are served with one warning if a store has some that do not fit, and refused with --strict', async () => {
    const store = join(temporaryFolder(), 'store.json')
    const sandbox = await openSandbox({ spec: OTHER, store })
    await sandbox.post('/pets', REX)
    await sandbox.core.close()
    for (const spec of [undefined, changed(', adopted', '')]) {
      const options = { store, ...(spec === undefined ? {} : { spec }) }
      const opened = await openSandbox(options)
      expect(opened.warnings).toEqual([expect.stringContaining('do not fit the contract: 1 of 1 pets (')])
      expect((await opened.control('GET', '/resources/pets')).json).toMatchObject([{ id: 1, name: 'Rex' }])
      await opened.core.close()
      if (spec === undefined) continue
      const strict = await openSandbox({ ...options, strict: true })
      expect((await strict.get('/pets')).status).toBe(500)
      await strict.core.close()
    }
  })

  it('come from fixtures that match the contract', async () => {
    const pet = REX.replace('{', '{"id":1,')
    const fixtures = dirname(temporaryFile('pets.json', `[${pet}]`))
    expect((await (await openSandbox({ spec: OTHER, fixtures })).get('/pets')).text).toBe(`[${pet}]`)
    const invalid = openSandbox({ spec: OTHER, fixtures: dirname(temporaryFile('pets.json', '[{"id":1}]')) })
    const message = expect.stringMatching(/\[0\].*name is required/)
    await expect(invalid).rejects.toMatchObject({ code: 'FIXTURES_INVALID', message })
  })
})

it('required properties of new pets are filled', async () => {
  const ID = 'properties: { id: { type: integer, format: int64 } }'
  const [[, openSandbox]] = transports as [(typeof transports)[number]]
  const created = 'createdAt: { type: string, format: date-time, readOnly: true }'
  const fields = `${ID.slice(0, -2)}, ${created}, colour: { type: string, default: brown } }`
  const spec = changed(`required: [id], ${ID}`, `required: [id, createdAt, colour], ${fields}`)
  const sandbox = await openSandbox({ spec })
  const { json } = await sandbox.post('/pets', '{"name":"Rex"}')
  const createdAt = expect.stringMatching(/^2026-03-01T12:00:00\.000Z$/)
  expect(json).toMatchObject({ id: 1, name: 'Rex', colour: 'brown', createdAt })
})
