import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { packageDirectory } from '../src/system/package-files.js'
import { type Block, blocksOf, GUIDES } from './support/documents.js'
import { PATIENCE_MS } from './support/patience.js'
import { type SpawnedServe, spawnServe } from './support/spawned-serve.js'

/**
 * The words after the language on the fence choose how a block is run:
 *
 * - `sh`: by bash, in the order of the document, against its sandbox; prints what the `text` block after it says
 * - `sh serve`: each line starts the sandbox of the blocks that follow
 * - `ts vitest`, `ts node`: as a test of Vitest, as a program
 * - `yaml config`, `yaml scenario`: held against the schema by test/options/config-schema.test.ts
 * - `yaml steps`: of a workflow, held against action.yml
 * - `yaml compose`, `yaml kubernetes`: checked by test/package/deployments.test.ts
 * - `no-run: why`: not at all
 *
 * The blocks of a recipe have a test of their own, and are marked for it by the line before them.
 */
const KNOWN =
  /^(?:sh|sh serve|text|ts vitest|ts node|yaml config|yaml scenario|yaml steps|yaml compose|yaml kubernetes|\w+ no-run: \S.{5,})$/
const RECIPE = /<!-- recipe: \w+ -->\s*$/

const SH: readonly string[] = ['', 'serve']
const DOCUMENTS = GUIDES.map((document) => ({
  file: document.file,
  blocks: blocksOf(document).filter(({ before }) => !RECIPE.test(before)),
}))

describe('every block of code in the guides', () => {
  it('says how it is run', () => {
    const unknown = DOCUMENTS.flatMap(({ file, blocks }) =>
      blocks
        .map(({ language, marker }) => `${language} ${marker}`.trim())
        .filter((one) => !KNOWN.test(one))
        .map((one) => `${file}: ${one}`),
    )
    expect(unknown).toEqual([])
  })

  it('that is output stands right after its command', () => {
    for (const { file, blocks } of DOCUMENTS)
      for (const [at, { language, before }] of blocks.entries()) {
        if (language !== 'text') continue
        expect(before.trim(), file).toBe('')
        expect(blocks[at - 1], file).toMatchObject({ language: 'sh', marker: '' })
      }
  })

  const withCommands = DOCUMENTS.filter(({ blocks }) => blocks.some(isCommand))
  it.each(withCommands)('of $file works, run in order', async ({ blocks }) => {
    const folder = project()
    let server: SpawnedServe | undefined
    onTestFinished(async () => void (await server?.end('SIGTERM')))
    for (const [at, block] of blocks.entries()) {
      if (!isCommand(block)) continue
      if (block.marker === 'serve') {
        for (const line of block.code.trim().split('\n')) {
          await server?.end('SIGTERM')
          server = await serve(folder, line)
        }
        continue
      }
      server ??= await spawnServe(folder)
      const next = blocks[at + 1]
      const stdout = await runScript(folder, block.code, server)
      if (next?.language === 'text') expect(stdout).toBe(next.code)
      else expect(stdout, block.code).not.toMatch(/"code":"/)
    }
  })

  it('that is TypeScript is right by its types, and passes', async () => {
    const folder = project()
    const write = (marker: string, ending: string) =>
      DOCUMENTS.flatMap(({ blocks }) => blocks)
        .filter((block) => block.language === 'ts' && block.marker === marker)
        .map(({ code }, at) => {
          writeFileSync(join(folder, `${marker}-${at}${ending}`), code)
          return join(folder, `${marker}-${at}${ending}`)
        })
    const tests = write('vitest', '.test.ts')
    const programs = write('node', '.ts')
    expect(Math.min(tests.length, programs.length)).toBeGreaterThan(3)
    const compiled = ts.createProgram([...tests, ...programs], {
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      strict: true,
      skipLibCheck: true,
      types: ['node'],
    })
    const found = ts
      .getPreEmitDiagnostics(compiled)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    expect(found).toEqual([])
    for (const program of programs) compiled.emit(compiled.getSourceFile(program))
    const vitest = [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--no-isolate',
      '--maxWorkers=1',
      `--testTimeout=${PATIENCE_MS}`,
    ]
    for (const argv of [vitest, ...programs.map((name) => [name.replace(/ts$/, 'js')])])
      await promisify(execFile)(process.execPath, argv, { cwd: folder, env: environmentIn(folder) })
  })

  it('with workflow steps passes valid inputs to the action', () => {
    const { inputs }: { readonly inputs: object } = parse(readFileSync(join(packageDirectory, 'action.yml'), 'utf8'))
    const blocks = DOCUMENTS.flatMap(({ blocks }) => blocks).filter(({ marker }) => marker === 'steps')
    const steps = blocks.flatMap(({ code }): readonly { uses?: string; with?: object }[] => parse(code))
    const given = steps
      .filter(({ uses }) => uses?.includes('petstore-sandbox'))
      .map((step) => Object.keys(step.with ?? {}))
    expect(given.length).toBeGreaterThan(1)
    expect(given.flat().filter((name) => !Object.keys(inputs).includes(name))).toEqual([])
  })
})

function isCommand({ language, marker }: Block): boolean {
  return language === 'sh' && SH.includes(marker)
}

/** A folder of a user's, with the package installed as it is built. */
function project(): string {
  const folder = mkdtempSync(join(tmpdir(), 'docs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const modules = join(folder, 'node_modules')
  const links = {
    'petstore-sandbox': '.',
    '.bin/petstore-sandbox': 'bin/petstore-sandbox.js',
    vitest: 'node_modules/vitest',
    '@types/node': 'node_modules/@types/node',
  }
  for (const [name, target] of Object.entries(links)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(packageDirectory, target), join(modules, name))
  }
  // What docs/spec.md downloads.
  const petstore: unknown = parse(
    readFileSync(join(packageDirectory, 'test/contract/specs/swagger-petstore.yaml'), 'utf8'),
  )
  writeFileSync(join(folder, 'petstore3.json'), JSON.stringify(petstore))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  return folder
}

/** Starts what a line says, but on a free port, and not beyond loopback. */
function serve(folder: string, line: string): Promise<SpawnedServe> {
  const [, flags = ''] = /^(?:npx )?petstore-sandbox serve ?(.*)$/.exec(line) ?? []
  expect(line).toBe(`${line.startsWith('npx ') ? 'npx ' : ''}petstore-sandbox serve ${flags}`.trim())
  return spawnServe(
    folder,
    ...flags
      .replace('0.0.0.0', '127.0.0.1')
      .split(' ')
      .filter((word) => word !== ''),
  )
}

/** Runs a script with an npx that is not npm's, which takes half a second to find the same program. */
async function runScript(folder: string, script: string, server: SpawnedServe): Promise<string> {
  const here = `npx() { "$@"; }; ${script.replaceAll('http://127.0.0.1:4010', new URL(server.baseUrl).origin)}`
  const options = { cwd: folder, env: environmentIn(folder) }
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', here], options)
  return stdout
}

/** Finds commands as an npm script does; never uses the user's own folder. */
function environmentIn(folder: string): NodeJS.ProcessEnv {
  const commands = join(folder, 'node_modules/.bin')
  expect(existsSync(commands)).toBe(true)
  return { PATH: `${commands}:${process.env.PATH ?? ''}`, HOME: folder, npm_config_update_notifier: 'false' }
}
