import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { configSchema } from '../../scripts/option-schemas.js'
import { runCli } from '../../src/cli/run-cli.js'
import { loadSeed } from '../../src/fixtures/load-fixtures.js'
import { kebabName } from '../../src/options/names.js'
import { OPTION_NAMES, type OptionName, optionRow } from '../../src/options/table.js'
import { configSchemaFile, fixturesDirectory, packageDirectory, packageText } from '../../src/system/package-files.js'
import { gathered } from '../options/context.js'
import { type TestIo, testIo } from './test-io.js'

const CONFIG = 'petstore-sandbox.yaml'
const FIXTURES = 'petstore-fixtures'
const seedOf = (fixtures: string | undefined) => loadSeed({ fixtures, pets: undefined, seed: 1 })

/** Everything in the working directory, by its path. */
function filesOf({ cwd }: TestIo): Record<string, string> {
  const entries = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    entries
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [file.slice(cwd.length + 1), readFileSync(file, 'utf8')]),
  )
}

async function initialised() {
  const io = testIo()
  expect(await runCli(['init'], io)).toBe(0)
  return { io, config: filesOf(io)[CONFIG] ?? '' }
}

describe('init', () => {
  it('writes a config that only sets the fixtures folder, and copies the fixtures', async () => {
    const io = testIo()
    const before = gathered({ cwd: io.cwd })
    await runCli(['init'], io)
    const fixtures = join(io.cwd, FIXTURES)
    expect(gathered({ cwd: io.cwd })).toEqual({ ...before, fixtures })
    expect(seedOf(fixtures)).toEqual(seedOf(undefined))
  })

  it('copies every packaged fixture but no scenario, whose name stands for the packaged one, and lists the files on stdout', async () => {
    const { io } = await initialised()
    const packaged = readdirSync(fixturesDirectory).filter((name) => name.endsWith('.json'))
    expect(packaged).not.toEqual([])
    const written = [CONFIG, ...packaged.map((name) => join(FIXTURES, name))].sort()
    expect(Object.keys(filesOf(io)).sort()).toEqual(written)
    expect(io.stdout.text.trimEnd().split('\n').sort()).toEqual(written)
    expect(io.stderr.text).toBe('')
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
    await runCli(['init'], inside)
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

    it('lists options that files cannot set as flags', async () => {
      const { config } = await initialised()
      const others = OPTION_NAMES.filter((name) => !inFiles.includes(name))
      expect(others.filter((name) => new RegExp(`^#?${nameOf(name)}:`, 'm').test(config))).toEqual([])
      expect(others.filter((name) => !config.includes(`--${nameOf(name)}`))).toEqual([])
    })

    it('starts with a bare #, so that no line of prose looks like one', async () => {
      const { config } = await initialised()
      const switches = config.split('\n').filter((line) => /^#?\S/.test(line) && !line.startsWith('# '))
      expect(switches).toHaveLength(inFiles.length)
      expect(config.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
        `fixtures: ${FIXTURES}`,
      ])
    })
  })

  describe('--agents', () => {
    const SKILL = '.agents/skills/petstore-sandbox/SKILL.md'
    const agents = async (io: TestIo) => runCli(['init', '--agents'], io)

    it('writes only the skill, and an AGENTS.md of three lines', async () => {
      const io = testIo()
      expect(await agents(io)).toBe(0)
      const { [SKILL]: skill, 'AGENTS.md': lines = '', ...others } = filesOf(io)
      expect(skill).toBe(packageText('skills/petstore-sandbox/SKILL.md'))
      expect(lines).toMatch(/^(?:- .+\n){3}$/)
      expect(others).toEqual({})
      expect(io.stdout.text).toBe(`${SKILL}\nAGENTS.md\n`)
    })

    it.each(['', '# Ours', '# Ours\r\n'])('adds the lines once after an AGENTS.md of %j', async (before) => {
      const io = testIo()
      writeFileSync(join(io.cwd, 'AGENTS.md'), before)
      expect(await agents(io)).toBe(0)
      const files = filesOf(io)
      expect(files['AGENTS.md']).toMatch(/(?:^|\n\n)(?:- .+\n){3}$/)
      expect(files['AGENTS.md']?.startsWith(before)).toBe(true)
      expect(await agents(testIo({ cwd: io.cwd }))).toBe(0)
      expect(filesOf(io)).toEqual(files)
    })

    it('leaves a changed skill alone, and fails', async () => {
      const io = testIo()
      await agents(io)
      writeFileSync(join(io.cwd, SKILL), 'ours')
      const again = testIo({ cwd: io.cwd })
      expect(await agents(again)).toBe(1)
      expect(filesOf(io)[SKILL]).toBe('ours')
      expect(again.stderr.text).toBe(
        `${SKILL} differs from this version's and was not changed. To replace it, remove it first.\n`,
      )
    })

    it('reports an AGENTS.md that is no file', async () => {
      const io = testIo()
      mkdirSync(join(io.cwd, 'AGENTS.md'))
      expect(await agents(io)).toBe(1)
      expect(io.stderr.text).toMatch(/^CANNOT_WRITE: ".*AGENTS\.md" cannot be written \(/)
    })
  })

  describe('never overwrites', () => {
    it('and succeeds, with a note, if everything exists already', async () => {
      const { io } = await initialised()
      writeFileSync(join(io.cwd, FIXTURES, 'pets.json'), '[]')
      const before = filesOf(io)
      const again = testIo({ cwd: io.cwd })
      expect(await runCli(['init'], again)).toBe(0)
      expect(filesOf(io)).toEqual(before)
      expect(again.stdout.text).toBe('')
      expect(again.stderr.text).toMatch(
        /^petstore-sandbox\.yaml and all of .* already exist\. Nothing was written\.\n$/,
      )
    })

    it('and fails if only some files existed: the rest is written, with a note on how to use them', async () => {
      const io = testIo()
      writeFileSync(join(io.cwd, CONFIG), 'plan: pro\n')
      expect(await runCli(['init'], io)).toBe(1)
      expect(filesOf(io)[CONFIG]).toBe('plan: pro\n')
      expect(io.stderr.text).toBe(
        `${CONFIG} already exists and was not changed.\nTo serve these fixtures, add to ${CONFIG}: fixtures: ${FIXTURES}\n`,
      )
      expect(io.stdout.text).toContain(join(FIXTURES, 'pets.json'))
    })

    it('not even what a broken link leads to', async () => {
      const { io } = await initialised()
      rmSync(join(io.cwd, CONFIG))
      symlinkSync(join(io.cwd, 'elsewhere.yaml'), join(io.cwd, CONFIG))
      expect(await runCli(['init'], testIo({ cwd: io.cwd }))).toBe(0)
      expect(readdirSync(io.cwd)).not.toContain('elsewhere.yaml')
    })

    it('and reports a file in the place of a folder', async () => {
      const io = testIo()
      writeFileSync(join(io.cwd, FIXTURES), 'a file')
      expect(await runCli(['init'], io)).toBe(1)
      expect(io.stderr.text).toMatch(/^CANNOT_WRITE: ".*petstore-fixtures.*" cannot be written \(.*\)/)
    })
  })
})
