import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { CONFIG_FILE } from '../options/config-layer.js'
import { fixturesDirectory } from '../system/package-files.js'
import { readRegularFile } from '../system/regular-file.js'
import { printResult } from './control/result.js'
import { EXIT } from './exit-codes.js'
import { explain } from './help.js'
import { configText } from './init/config-text.js'
import { placeFile } from './init/place-file.js'
import { schemaFor } from './init/schema-for.js'
import type { CliIo } from './io.js'
import { type OutputFlags, outputOptions, wantsJson } from './output-form.js'
import { say } from './print.js'

/** The editable copy of the packaged fixtures. */
const FIXTURES_FOLDER = 'petstore-fixtures'

const NOTES = `\
Writes into the working directory:
  ${CONFIG_FILE}    every option, commented out, with its default;
                           only "fixtures" is set, to the folder beside it
  ${FIXTURES_FOLDER}/       pets.json, orders.json, keys.json, scenarios/*.yaml

Existing files are left alone. stdout lists the files written. The exit code is 0 if
none of them, or all of them, existed; 1 if only some did, as those may not fit the rest.

An existing store keeps its pets: edited fixtures take effect after "serve --reset" or
"control reset".`

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  explain(command, { examples: ['petstore-sandbox init'], notes: NOTES })
  for (const option of outputOptions()) command.addOption(option)
  command.option('--debug', 'show stack traces')
  command.action(async (flags: OutputFlags) => finish(await init(io, wantsJson(flags))))
}

async function init(io: CliIo, json: boolean): Promise<number> {
  const files = new Map<string, string | Uint8Array>([[CONFIG_FILE, configText(FIXTURES_FOLDER, schemaFor(io.cwd))]])
  for (const name of await fixtureFiles()) {
    files.set(join(FIXTURES_FOLDER, name), readRegularFile(join(fixturesDirectory, name)))
  }
  const written: string[] = []
  const left: string[] = []
  for (const [name, content] of files) {
    if (await placeFile(join(io.cwd, name), content)) written.push(name)
    else left.push(name)
  }
  await printResult({ value: { written, left }, text: written.join('\n') }, io, json)
  if (left.length === 0) return EXIT.ok
  if (left.length === files.size) {
    say(io.stderr, `${CONFIG_FILE} and all of ${FIXTURES_FOLDER} already exist. Nothing was written.`)
    return EXIT.ok
  }
  for (const name of left) say(io.stderr, `${name} already exists and was left alone.`)
  if (left.includes(CONFIG_FILE)) {
    say(io.stderr, `To serve these fixtures, add to ${CONFIG_FILE}: fixtures: ${FIXTURES_FOLDER}`)
  }
  return EXIT.failed
}

/** The packaged fixtures, including scenarios, relative to their folder. */
async function fixtureFiles(): Promise<readonly string[]> {
  const entries = await readdir(fixturesDirectory, { recursive: true })
  return entries.filter((name) => /\.(?:json|yaml)$/.test(name)).sort()
}
