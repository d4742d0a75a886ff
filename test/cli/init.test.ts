import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { configSchema } from '../../scripts/option-schemas.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { loadSeed } from '../../src/fixtures/load-fixtures.js'
import { startSandbox } from '../../src/index.js'
import { kebabName } from '../../src/options/names.js'
import { OPTION_NAMES, type OptionName, optionRow } from '../../src/options/table.js'
import { configSchemaFile, fixturesDirectory, packageDirectory, packageText } from '../../src/system/package-files.js'
import { gathered } from '../options/context.js'
import { run, type TestIo, testIo } from './test-io.js'

const CONFIG = 'petstore-sandbox.yaml'
const FIXTURES = 'petstore-fixtures'
const seedOf = (fixtures: string | undefined) => loadSeed({ fixtures, pets: undefined, seed: 1 }, packagedContract())

/** Everything in the working directory, by its path. */
function filesOf({ cwd }: TestIo): Record<string, string> {
  const entries = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const files = entries.map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(files.map((file) => [file.slice(cwd.length + 1), readFileSync(file, 'utf8')]))
}

async function initialised(io = testIo()) {
  const { code, out, err } = await run('init', io)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return { io, out, config: filesOf(io)[CONFIG] ?? '' }
}

describe('init', () => {
  it('writes a config that only sets the fixtures folder, and copies and lists the packaged fixtures', async () => {
    const io = testIo()
    const before = gathered({ cwd: io.cwd })
    const { out } = await initialised(io)
    const fixtures = join(io.cwd, FIXTURES)
    expect(gathered({ cwd: io.cwd })).toEqual({ ...before, fixtures })
    expect(seedOf(fixtures)).toEqual(seedOf(undefined))
    // No scenario is copied: its name stands for the packaged one.
    const packaged = readdirSync(fixturesDirectory).filter((name) => name.endsWith('.json'))
    expect(packaged).not.toEqual([])
    const written = [CONFIG, ...packaged.map((name) => join(FIXTURES, name))].sort()
    expect(Object.keys(filesOf(io)).sort()).toEqual(written)
    expect(out.trimEnd().split('\n').sort()).toEqual(written)
  })

  it('with a contract of your own, names it in the config and writes records and keys of it', async () => {
    const room = { id: { type: 'integer', readOnly: true }, name: { type: 'string' } }
    const schema = { type: 'object', required: ['id', 'name'], properties: room }
    const body = (one: object) => ({
      content: { 'application/json': { schema: one } },
    })
    const list = (operationId: string) => ({
      get: { operationId, responses: { 200: { description: '', ...body({ type: 'array', items: schema }) } } },
    })
    const create = (operationId: string) => ({
      post: { operationId, requestBody: body(schema), responses: { 201: { description: '', ...body(schema) } } },
    })
    const one = (operationId: string) => ({
      get: { operationId, responses: { 200: { description: '', ...body(schema) }, 404: { description: '' } } },
    })
    const paths = {
      '/rooms': { ...list('listRooms'), ...create('addRoom') },
      '/rooms/{id}': { parameters: [{ name: 'id', in: 'path', required: true, schema: room.id }], ...one('getRoom') },
      '/rooms/{id}/seats': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: room.id }],
        ...list('listSeats'),
        ...create('addSeat'),
      },
    }
    const io = testIo()
    writeFileSync(
      join(io.cwd, 'rooms.json'),
      JSON.stringify({ openapi: '3.1.0', info: { title: 'Rooms', version: '1' }, paths }),
    )
    expect(await run('init --spec rooms.json', io)).toMatchObject({ code: 0, err: '' })
    const { [CONFIG]: config, 'rooms.json': _, ...fixtures } = filesOf(io)
    expect(config).toMatch(/^spec: rooms\.json$/m)
    expect(gathered({ cwd: io.cwd })).toMatchObject({
      spec: join(io.cwd, 'rooms.json'),
      fixtures: join(io.cwd, FIXTURES),
    })
    expect(Object.keys(fixtures)).not.toContain(join(FIXTURES, 'pets.json'))
    const files = { spec: join(io.cwd, 'rooms.json'), fixtures: join(io.cwd, FIXTURES) }
    await using sandbox = await startSandbox(files)
    for (const name of ['rooms', 'seats']) {
      const written = JSON.parse(fixtures[join(FIXTURES, `${name}.json`)] ?? '')
      expect(written).toHaveLength(3)
      expect(await sandbox.records.list(name)).toEqual(written.toReversed())
    }
    const keys = (await sandbox.keys.list()).map(({ key }) => key)
    expect(keys).toEqual(JSON.parse(fixtures[join(FIXTURES, 'keys.json')] ?? '').map(({ key }: { key: string }) => key))
    expect((await run('init --spec ../rooms.json', testIo({ cwd: join(io.cwd, FIXTURES) }))).err).toContain(
      'is not in this folder',
    )
  })

  it('leaves out the resources that it cannot generate, and names them', async () => {
    const body = (schema: object) => ({ content: { 'application/json': { schema } } })
    const resource = (name: object) => {
      const record = { type: 'object', required: ['id', 'name'], properties: { id: { type: 'integer' }, name } }
      return {
        get: { responses: { 200: { description: '', ...body({ type: 'array', items: record }) } } },
        post: { requestBody: body(record), responses: { 201: { description: '', ...body(record) } } },
      }
    }
    const text = { type: 'string' }
    const below = (name: string) => ({ parameters: [{ name, in: 'path', required: true, schema: text }] })
    const paths = {
      '/rooms': resource(text),
      '/codes': resource({ type: 'string', pattern: 'x^' }),
      '/codes/{codeId}/uses': { ...below('codeId'), ...resource(text) },
      '/carts/{cartId}/items': { ...below('cartId'), ...resource(text) },
    }
    const io = testIo()
    const document = { openapi: '3.1.0', info: { title: 'Rooms', version: '1' }, paths }
    writeFileSync(join(io.cwd, 'rooms.json'), JSON.stringify(document))
    const { code, err } = await run('init --spec rooms.json', io)
    expect(Object.keys(filesOf(io))).toContain(join(FIXTURES, 'rooms.json'))
    expect(err.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^rooms\.json: no values can be generated for the schema of codes: name must match/),
      'uses belongs to codes, which has no records.',
      'items belongs to cartId, which has no records. The contract does not describe that parent.',
    ])
    expect(code).toBe(0)
    await using sandbox = await startSandbox({ spec: join(io.cwd, 'rooms.json'), fixtures: join(io.cwd, FIXTURES) })
    expect(await sandbox.records.list('rooms')).toHaveLength(3)
  })

  it('links the JSON Schema of this program, or of the package installed for the folder', async () => {
    const named = (config = '') => /^# yaml-language-server: \$schema=(\S+)$/m.exec(config)?.[1] ?? ''
    const { io, config } = await initialised()
    expect(fileURLToPath(named(config))).toBe(configSchemaFile)
    expect(JSON.parse(readFileSync(configSchemaFile, 'utf8'))).toEqual(configSchema())

    mkdirSync(join(io.cwd, 'node_modules'))
    symlinkSync(packageDirectory, join(io.cwd, 'node_modules/petstore-sandbox'))
    const inside = testIo({ cwd: join(io.cwd, 'apps/shop') })
    mkdirSync(inside.cwd, { recursive: true })
    await run('init', inside)
    const relative = named(filesOf(inside)[CONFIG])
    expect(relative).toMatch(/^\.\.\/\.\.\/node_modules\//)
    expect(realpathSync(join(inside.cwd, relative))).toBe(realpathSync(configSchemaFile))
  })

  describe('each switch of the config', () => {
    const inFiles = OPTION_NAMES.filter((name) => !optionRow(name).notInFiles)
    const nameOf = (name: OptionName) => kebabName({ name, negated: optionRow(name).negative === true })

    it.each(inFiles)('%s is documented, and loads once its line is uncommented', async (name) => {
      const { io, config } = await initialised()
      const { description } = optionRow(name)
      expect(config.replaceAll(/\n# /g, ' ').toLowerCase()).toContain(description.toLowerCase())
      const line = new RegExp(`^#?${nameOf(name)}: .+$`, 'gm')
      expect(config.match(line)).toHaveLength(1)
      const uncommented = config.replace(line, (text) => text.replace('#', ''))
      const before = gathered({ cwd: io.cwd })
      writeFileSync(join(io.cwd, CONFIG), uncommented)
      const after = gathered({ cwd: io.cwd })
      if (optionRow(name).reads === 'switch') expect(after).not.toEqual(before)
    })

    it('starts with a bare #, so that no line of prose looks like one; other options are listed as flags', async () => {
      const { config } = await initialised()
      const lines = config.split('\n').filter((line) => line !== '')
      expect(lines.filter((line) => /^#?\S/.test(line) && !line.startsWith('# '))).toHaveLength(inFiles.length)
      expect(lines.filter((line) => !line.startsWith('#'))).toEqual([`fixtures: ${FIXTURES}`])
      const others = OPTION_NAMES.filter((name) => !inFiles.includes(name)).map(nameOf)
      expect(others.filter((name) => new RegExp(`^#?${name}:`, 'm').test(config))).toEqual([])
      expect(others.filter((name) => !config.includes(`--${name}`))).toEqual([])
    })
  })

  describe('--agents', () => {
    const SKILL = '.agents/skills/petstore-sandbox/SKILL.md'
    const agents = (io: TestIo) => run('init --agents', io)

    it('writes only the skill, and an AGENTS.md of three lines', async () => {
      const io = testIo()
      expect(await agents(io)).toEqual({ code: 0, out: `${SKILL}\nAGENTS.md\n`, err: '' })
      const { [SKILL]: skill, 'AGENTS.md': lines = '', ...others } = filesOf(io)
      expect(skill).toBe(packageText('skills/petstore-sandbox/SKILL.md'))
      expect(lines).toMatch(/^(?:- .+\n){3}$/)
      expect(others).toEqual({})
    })

    it.each(['', '# Ours', '# Ours\r\n'])('adds the lines once after an AGENTS.md of %j', async (before) => {
      const io = testIo()
      writeFileSync(join(io.cwd, 'AGENTS.md'), before)
      expect((await agents(io)).code).toBe(0)
      const files = filesOf(io)
      expect(files['AGENTS.md']).toMatch(/(?:^|\n\n)(?:- .+\n){3}$/)
      expect(files['AGENTS.md']?.startsWith(before)).toBe(true)
      expect((await agents(testIo({ cwd: io.cwd }))).code).toBe(0)
      expect(filesOf(io)).toEqual(files)
    })

    it('leaves a changed skill alone, and fails', async () => {
      const io = testIo()
      await agents(io)
      writeFileSync(join(io.cwd, SKILL), 'ours')
      const err = `${SKILL} differs from this version's and was not changed. To replace it, remove it first.\n`
      expect(await agents(testIo({ cwd: io.cwd }))).toMatchObject({ code: 1, err })
      expect(filesOf(io)[SKILL]).toBe('ours')
    })
  })

  describe('never overwrites', () => {
    it('and succeeds, with a note, if everything exists already', async () => {
      const { io } = await initialised()
      writeFileSync(join(io.cwd, FIXTURES, 'pets.json'), '[]')
      const before = filesOf(io)
      const note = /^petstore-sandbox\.yaml and all of .* already exist\. Nothing was written\.\n$/
      expect(await run('init', testIo({ cwd: io.cwd }))).toEqual({ code: 0, out: '', err: expect.stringMatching(note) })
      expect(filesOf(io)).toEqual(before)
    })

    it('and fails if only some files existed: the rest is written, with a note on how to use them', async () => {
      const io = testIo()
      writeFileSync(join(io.cwd, CONFIG), 'plan: pro\n')
      expect(await run('init', io)).toEqual({
        code: 1,
        out: expect.stringContaining(join(FIXTURES, 'pets.json')),
        err: `${CONFIG} already exists and was not changed.\nTo serve these fixtures, add to ${CONFIG}: fixtures: ${FIXTURES}\n`,
      })
      expect(filesOf(io)[CONFIG]).toBe('plan: pro\n')
    })

    it('not even what a broken link leads to', async () => {
      const { io } = await initialised()
      rmSync(join(io.cwd, CONFIG))
      symlinkSync(join(io.cwd, 'elsewhere.yaml'), join(io.cwd, CONFIG))
      expect((await run('init', testIo({ cwd: io.cwd }))).code).toBe(0)
      expect(readdirSync(io.cwd)).not.toContain('elsewhere.yaml')
    })

    it('and reports a file in the place of a folder, or a folder in the place of a file', async () => {
      const io = testIo()
      writeFileSync(join(io.cwd, FIXTURES), 'a file')
      mkdirSync(join(io.cwd, 'AGENTS.md'))
      for (const [line, name] of [
        ['init', 'petstore-fixtures'],
        ['init --agents', 'AGENTS\\.md'],
      ]) {
        const problem = new RegExp(`^CANNOT_WRITE: ".*${name}.*" cannot be written \\(.*\\)`)
        expect(await run(String(line), testIo({ cwd: io.cwd }))).toMatchObject({
          code: 1,
          err: expect.stringMatching(problem),
        })
      }
    })
  })
})
