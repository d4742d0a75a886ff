import type { Command } from 'commander'
import { addReportVerbs } from './control/conduct.js'
import { addLifecycleVerbs } from './control/lifecycle.js'
import { addRequestVerbs } from './control/requests.js'
import { addSharedFlags, verbCommands } from './control/verb-commands.js'
import { addVerbs } from './control/verbs.js'
import { EXIT_NO_RESPONSE } from './exit-codes.js'
import { addHelpCommand, explain } from './help.js'
import type { CliIo } from './io.js'

const EXAMPLES: readonly string[] = [
  'petstore-sandbox control status',
  'petstore-sandbox control clock advance 1m',
  'petstore-sandbox control storm start 0.3,for=30s',
  'petstore-sandbox control requests --status 429 -o json',
]

const NOTES = `\
The address of the sandbox comes from --url, PETSTORE_SANDBOX_URL,
.petstore-sandbox/run.json in this folder, or else port 4010.

Exit codes: 0 done, 1 refused (stderr says why, as CODE: message), 2 usage
error, ${EXIT_NO_RESPONSE} no sandbox found, 130 and 143 ended by SIGINT, SIGTERM.`

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  const verbs = verbCommands(io, finish)
  addVerbs(command, verbs)
  addRequestVerbs(command, verbs)
  addReportVerbs(command, verbs)
  addLifecycleVerbs(command, verbs, io)
  addSharedFlags(command)
  addHelpCommand(command)
  explain(command, { examples: EXAMPLES, notes: NOTES })
}
