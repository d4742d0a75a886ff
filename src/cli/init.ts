import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { Failure } from '../domain/failures.js'
import { CONFIG_FILE } from '../options/sources.js'
import { makeFolder, PROJECT_FOLDER } from '../system/make-folder.js'
import { configSchemaFile, fixturesDirectory, packageDirectory } from '../system/package-files.js'
import { PROJECT_FILE, readRegularFile } from '../system/regular-file.js'
import { type OutputFlags, outputOptions, printResult, wantsJson } from './control/result.js'
import { EXIT } from './exit-codes.js'
import { explain } from './help.js'
import { configText } from './init/config-text.js'
import type { CliIo } from './io.js'
import { printLine } from './print.js'

const FIXTURES_FOLDER = 'petstore-fixtures'

const NOTES = `\
Writes into the working directory:
  ${CONFIG_FILE}    every option, commented out, with its default;
                           only "fixtures" is set, to the folder beside it
  ${FIXTURES_FOLDER}/       pets.json, orders.json, keys.json

Existing files are not changed. Prints the files written. Exit codes: 0 if none or all
of the files existed, 1 if only some did, since those may not match the new ones.

An existing store keeps its pets: edited fixtures take effect after "serve --reset" or
"control reset".`

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  explain(command, { examples: ['petstore-sandbox init'], notes: NOTES })
  for (const option of outputOptions()) command.addOption(option)
  command.option('--debug', 'show stack traces')
  command.action(async (flags: OutputFlags) => finish(await init(io, wantsJson(flags))))
}

async function init(io: CliIo, json: boolean): Promise<number> {
  const files = new Map<string, string | Uint8Array>([[CONFIG_FILE, configText(FIXTURES_FOLDER, schemaPath(io.cwd))]])
  // Without scenarios: they are named, not copied.
  const names = (await readdir(fixturesDirectory)).filter((name) => name.endsWith('.json')).sort()
  for (const name of names) files.set(join(FIXTURES_FOLDER, name), readRegularFile(join(fixturesDirectory, name)))
  const written: string[] = []
  const left: string[] = []
  for (const [name, content] of files) {
    if (await writeNewFile(join(io.cwd, name), content)) written.push(name)
    else left.push(name)
  }
  await printResult({ value: { written, left }, text: written.join('\n') }, io, json)
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

/** Leaves existing files and links alone. @returns false if one existed @throws Failure CANNOT_WRITE */
async function writeNewFile(file: string, content: string | Uint8Array): Promise<boolean> {
  try {
    makeFolder(dirname(file), PROJECT_FOLDER)
    await writeFile(file, content, { flag: 'wx', mode: PROJECT_FILE })
    return true
  } catch (cause) {
    const { code, path, message } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST' && path === file) return false
    throw new Failure('CANNOT_WRITE', `"${file}" cannot be written (${message}). No existing file was changed.`, {
      cause,
    })
  }
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
