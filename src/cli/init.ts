import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { stringifyJson } from '../contract/json.js'
import { Failure } from '../domain/failures.js'
import { generatedSeeds } from '../fixtures/generate-records.js'
import { openContract } from '../openapi/open-contract.js'
import { ENV_PREFIX, flagName, kebabName } from '../options/names.js'
import { OptionsError } from '../options/options.js'
import { CONFIG_FILE } from '../options/sources.js'
import { OPTION_NAMES, type OptionName, optionRow } from '../options/table.js'
import { messageOf } from '../system/message-of.js'
import { configSchemaFile, fixturesDirectory, packageDirectory, packageText } from '../system/package-files.js'
import {
  appendRegularFile,
  isInside,
  makeFolder,
  PROJECT_FILE,
  PROJECT_FOLDER,
  readRegularFile,
  UnusableFile,
} from '../system/regular-file.js'
import { loadYaml } from '../system/runtime.js'
import { addOutputOptions, type OutputFlags, printResult, wantsJson } from './control/result.js'
import { explain } from './help.js'
import { type CliIo, EXIT } from './io.js'
import { printLine, wrapRows } from './print.js'

const FIXTURES_FOLDER = 'petstore-fixtures'
/** Records of each resource. */
const GENERATED = 3

const SKILL_FILE = 'skills/petstore-sandbox/SKILL.md'
const AGENTS_FILE = 'AGENTS.md'
const AGENTS_LINES = `\
- petstore-sandbox runs the API locally: \`npx petstore-sandbox serve\`. API key: \`sandbox\`.
- Before you change a client of that API, read \`.agents/${SKILL_FILE}\`.
- Afterwards, run \`npx petstore-sandbox exec --fail-on violation -- <test command>\`.
`

const NOTES = `\
Writes into the working directory:
  ${CONFIG_FILE}    every option, commented out, with its default;
                           only "fixtures" is set, to the folder beside it
  ${FIXTURES_FOLDER}/       a file for each resource, and keys.json
With --spec, "spec" is set too, and the fixtures are generated from that contract.

Existing files are not changed. Prints the files written. Exit codes: 0 if none or all
of the files existed, 1 if only some did, since those may not match the new ones.

With --agents, writes only .agents/${SKILL_FILE},
and adds three lines to ${AGENTS_FILE}, unless it names the skill already.

An existing store keeps its records: edited fixtures take effect after "serve --reset" or
"control reset".`

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  explain(command, { examples: ['petstore-sandbox init', 'petstore-sandbox init --agents'], notes: NOTES })
  addOutputOptions(command).option('--spec <openapi.yaml>', 'OpenAPI document to serve (default: the packaged one)')
  command.option('--agents', 'write the skill for coding agents instead').option('--debug', 'show stack traces')
  command.action(async (flags: OutputFlags & { readonly agents?: boolean; readonly spec?: string }) =>
    finish(await (flags.agents ? initAgents(io, wantsJson(flags)) : init(io, wantsJson(flags), flags.spec))),
  )
}

/** A skill that differs may be the user's, or of another version. */
async function initAgents(io: CliIo, json: boolean): Promise<number> {
  const name = `.agents/${SKILL_FILE}`
  const [skill, agents] = [join(io.cwd, name), join(io.cwd, AGENTS_FILE)]
  const content = packageText(SKILL_FILE)
  const isNew = await writeNewFile(io.cwd, skill, content)
  const isAdded =
    (await writeNewFile(io.cwd, agents, AGENTS_LINES)) || (await appendOnce(io.cwd, agents, AGENTS_LINES, name))
  const written = [...(isNew ? [name] : []), ...(isAdded ? [AGENTS_FILE] : [])]
  const left = [name, AGENTS_FILE].filter((value) => !written.includes(value))
  await printResult({ value: { written, left }, text: written.join('\n') }, io, json)
  if (isNew || String(readRegularFile(skill)) === content) return EXIT.ok
  printLine(io.stderr, `${name} differs from this version's and was not changed. To replace it, remove it first.`)
  return EXIT.failed
}

/** @returns false if the file already has the mark @throws Failure CANNOT_WRITE */
async function appendOnce(cwd: string, file: string, lines: string, mark: string): Promise<boolean> {
  try {
    const text = String(readRegularFile(file))
    if (text.includes(mark)) return false
    const gap = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n'
    assertInside(cwd, file)
    appendRegularFile(file, gap + lines)
    return true
  } catch (cause) {
    throw cannotWrite(file, cause)
  }
}

async function init(io: CliIo, json: boolean, spec: string | undefined): Promise<number> {
  if (spec !== undefined && !isInside(io.cwd, resolve(io.cwd, spec)))
    throw new OptionsError([`--spec: "${spec}" is not in this folder, and ${CONFIG_FILE} can only name files in it`])
  const config = configText({ fixtures: FIXTURES_FOLDER, ...(spec !== undefined && { spec }) }, schemaPath(io.cwd))
  const files = new Map<string, string | Uint8Array>([[CONFIG_FILE, config]])
  const fixtures = spec === undefined ? await packagedFixtures() : await generatedFixtures(spec, io)
  for (const [name, content] of fixtures) files.set(join(FIXTURES_FOLDER, name), content)
  const written: string[] = []
  const left: string[] = []
  for (const [name, content] of files) {
    if (await writeNewFile(io.cwd, join(io.cwd, name), content)) written.push(name)
    else left.push(name)
  }
  const next = ['npx petstore-sandbox serve']
  await printResult({ value: { written, left }, text: written.join('\n'), next }, io, json)
  if (left.length === 0) return EXIT.ok
  if (left.length === files.size) {
    printLine(io.stderr, `${CONFIG_FILE} and all of ${FIXTURES_FOLDER} already exist. Nothing was written.`)
    return EXIT.ok
  }
  for (const name of left) printLine(io.stderr, `${name} already exists and was not changed.`)
  if (left.includes(CONFIG_FILE)) {
    printLine(io.stderr, `To serve these fixtures, add to ${CONFIG_FILE}: fixtures: ${FIXTURES_FOLDER}`)
  }
  return EXIT.failed
}

/** Without scenarios: they are named, not copied. */
async function packagedFixtures(): Promise<readonly (readonly [name: string, content: Uint8Array])[]> {
  const names = (await readdir(fixturesDirectory)).filter((name) => name.endsWith('.json')).sort()
  return names.map((name) => [name, readRegularFile(join(fixturesDirectory, name))])
}

/**
 * Records that follow the contract, as `--generate` makes them, and its keys. Prints why a resource has none.
 *
 * @throws SpecError
 */
async function generatedFixtures(
  written: string,
  { cwd, stderr }: CliIo,
): Promise<readonly (readonly [name: string, content: string])[]> {
  const spec = resolve(cwd, written)
  const contract = await openContract(spec)
  const all = contract.resources.filter(({ isFixed, isMadeUp }) => !isFixed || isMadeUp)
  const options = { generate: all.map(({ name }) => ({ resource: name, count: GENERATED })) }
  const leaveOut = (failure: unknown) => printLine(stderr, messageOf(failure))
  const seeds = generatedSeeds(options, contract, {}, () => written, leaveOut)(1)
  const names = [...(seeds.readRecords?.(new Map(), new Map()).keys() ?? [])]
  const generate = names.map((name) => `${name}=${GENERATED}`)
  const { createSandbox } = await import('../api/start.js')
  await using sandbox = await createSandbox({ spec, generate, seed: 1 })
  const text = (content: unknown) => `${stringifyJson(content, 2)}\n`
  const keys = (await sandbox.keys.list()).map(({ key, plan, always }) => ({
    ...{ key, ...(plan !== null && { plan }), ...(always !== null && { always }) },
  }))
  const files = await Promise.all(
    names.map(async (name) => [`${name}.json`, text((await sandbox.records.list(name)).toReversed())] as const),
  )
  return [...files, ['keys.json', text(keys)]]
}

/** Leaves existing files and links alone. @returns false if one existed @throws Failure CANNOT_WRITE */
async function writeNewFile(cwd: string, file: string, content: string | Uint8Array): Promise<boolean> {
  try {
    assertInside(cwd, file)
    makeFolder(dirname(file), PROJECT_FOLDER)
    await writeFile(file, content, { flag: 'wx', mode: PROJECT_FILE })
    return true
  } catch (cause) {
    const { code, path } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST' && path === file) return false
    throw cannotWrite(file, cause)
  }
}

/** A cloned folder may contain links to files and folders elsewhere. */
function assertInside(cwd: string, file: string): void {
  if (!isInside(cwd, file)) throw new UnusableFile('a symbolic link leads out of this folder')
}

function cannotWrite(file: string, cause: unknown): Failure {
  const reason = messageOf(cause)
  return new Failure('CANNOT_WRITE', `"${file}" cannot be written (${reason}). No existing file was changed.`, {
    cause,
  })
}

/** Prefers the package installed in the project. @returns a path, or a URL without spaces */
function schemaPath(folder: string): string {
  for (let above = folder; ; above = dirname(above)) {
    const installed = join(above, 'node_modules/petstore-sandbox', relative(packageDirectory, configSchemaFile))
    if (existsSync(installed)) {
      const path = relative(folder, installed).split(sep).join('/')
      return path.startsWith('.') ? path : `./${path}`
    }
    if (above === dirname(above)) return pathToFileURL(configSchemaFile).href
  }
}

const WIDTH = 100

const IN_FILES = OPTION_NAMES.filter((name) => !optionRow(name).notInFiles)
const NOT_IN_FILES = OPTION_NAMES.filter((name) => optionRow(name).notInFiles)

/** All options but the set ones are commented out with `#`, prose with `# `. */
export function configText(set: SetOptions, schema: string): string {
  const groups = [...new Set(IN_FILES.map((name) => optionRow(name).group))]
  return [
    `# yaml-language-server: $schema=${schema}`,
    '# Settings for a sandbox started in this folder.',
    '# Remove the # from a line to set its switch. Flags and the environment',
    `# (${ENV_PREFIX}…) override this file, and so does a scenario that they choose.`,
    '# Only flags and the environment can set:',
    ...wrapRows(NOT_IN_FILES.map(flagName).join(', '), WIDTH - 4).map((line) => `#   ${line}`),
    ...groups.flatMap((group) => ['', '', `# === ${group} ===`, ...groupLines(group, set)]),
    '',
  ].join('\n')
}

type SetOptions = { readonly [Name in OptionName]?: string }

function groupLines(group: string, set: SetOptions): readonly string[] {
  return IN_FILES.filter((name) => optionRow(name).group === group).flatMap((name) => [
    '',
    ...proseLines(name),
    set[name] === undefined
      ? `#${switchLine(name)}`
      : loadYaml()
          .stringify({ [name]: set[name] }, { lineWidth: 0 })
          .trimEnd(),
  ])
}

function proseLines(name: OptionName): readonly string[] {
  const { description, allowed, default: fallback, reads } = optionRow(name)
  const standard = fallback ?? (reads === 'switch' ? 'false' : 'none')
  return [description, `${allowed}; default: ${standard}`]
    .flatMap((text) => wrapRows(capitalised(text), WIDTH - 2))
    .map((line) => `# ${line}`)
}

/** A single letter at the start is a placeholder and keeps its case. */
function capitalised(text: string): string {
  return text.replace(/^[a-z](?=[a-z])/, (letter) => letter.toUpperCase())
}

function switchLine(name: OptionName): string {
  const { reads, negative, default: fallback = '', example = yamlText(fallback) } = optionRow(name)
  if (reads === 'switch') return `${kebabName({ name, negated: negative })}: true`
  return `${kebabName({ name, negated: false })}: ${example}`
}

function yamlText(text: string): string {
  return /^[A-Za-z0-9./]/.test(text) ? text : `'${text}'`
}
