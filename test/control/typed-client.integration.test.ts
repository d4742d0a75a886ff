import { execFile } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import openapiTypescript, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { expect, it, onTestFinished } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { spawnServe } from '../support/spawned-serve.js'
import { temporaryFolder } from '../support/temporary-files.js'

const PROGRAM = `
import createClient from 'openapi-fetch'
import type { paths } from './control.js'

const control = createClient<paths>({ baseUrl: 'http://127.0.0.1:4010/__sandbox' })
const params = { query: { space: 'checkout' } }

await control.PUT('/storm', { params, body: { rate: 1, for: '30s' } })
const { data } = await control.GET('/state', { params })
console.log(data?.storm?.rate, data?.keys[0]?.minute?.remaining)
`
/** None of it may compile. */
const MISTAKES = [
  "control.GET('/storms')",
  "control.PUT('/storm', { body: { rate: 'all' } })",
  'data?.keys[0]?.remaining',
]

it('a client generated from the description compiles, controls a running sandbox, and rejects mistakes', async () => {
  const folder = temporaryFolder()
  const serve = await spawnServe(folder, '--in-memory')
  onTestFinished(async () => void (await serve.end('SIGTERM')))
  symlinkSync(join(packageDirectory, 'node_modules'), join(folder, 'node_modules'))
  const types = await openapiTypescript(new URL(`${serve.controlUrl}/control.openapi.yaml`))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'control.d.ts'), astToString(types))
  const program = PROGRAM.replace('http://127.0.0.1:4010/__sandbox', serve.controlUrl)
  const lines = MISTAKES.map((line) => `// @ts-expect-error\n${line}\n`)
  // tsc reports an expected error that does not occur.
  expect(compile(folder, { program, mistakes: `${program}\n${lines.join('')}` })).toEqual([])
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'program.js')])
  expect(stdout).toBe('1 60\n')
})

/** @returns the errors */
function compile(folder: string, texts: Readonly<Record<string, string>>): readonly string[] {
  const files = Object.keys(texts).map((name) => join(folder, `${name}.ts`))
  for (const [index, text] of Object.values(texts).entries()) writeFileSync(files[index] ?? '', text)
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    skipDefaultLibCheck: true,
    types: [],
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
  })
  program.emit()
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}
