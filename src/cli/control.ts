import type { Command } from 'commander'
import { addClockVerbs } from './control/clock-verbs.js'
import { addConductVerb } from './control/conduct-verb.js'
import { addDriftVerb } from './control/drift-verb.js'
import { EXIT_NO_ANSWER } from './control/errors.js'
import { addFaultVerbs } from './control/fault-verbs.js'
import { addKeyVerbs } from './control/key-verbs.js'
import { addLifeVerbs } from './control/life-verbs.js'
import { addPetVerbs } from './control/pet-verbs.js'
import { addReplicaVerb } from './control/replica-verb.js'
import { addRequestVerbs } from './control/request-verbs.js'
import { addScenarioVerb } from './control/scenario-verb.js'
import { addSettingsVerbs } from './control/settings-verbs.js'
import { addSnapshotVerbs } from './control/snapshot-verbs.js'
import { addSpaceVerbs } from './control/space-verbs.js'
import { addStateVerbs } from './control/state-verbs.js'
import { addStormVerbs } from './control/storm-verbs.js'
import { addSharedFlags, verbCommands } from './control/verb-commands.js'
import { addHelpCommand, explain } from './help.js'
import type { CliIo } from './io.js'

const EXAMPLES: readonly string[] = [
  'petstore-sandbox control status',
  'petstore-sandbox control clock advance 1m',
  'petstore-sandbox control storm start 0.3,for=30s',
  'petstore-sandbox control requests --status 429 -o json',
]

const NOTES = `\
The sandbox is looked for at --url, PETSTORE_SANDBOX_URL, the address in
.petstore-sandbox/run.json here, and port 4010, in this order.

Exit codes: 0 done, 1 refused (stderr says why, as CODE: message), 2 usage
error, ${EXIT_NO_ANSWER} no sandbox answers, 130 and 143 ended by SIGINT, SIGTERM.`

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  const verbs = verbCommands(io, finish)
  addStateVerbs(command, verbs)
  addClockVerbs(command, verbs)
  addSettingsVerbs(command, verbs)
  addKeyVerbs(command, verbs)
  addStormVerbs(command, verbs)
  addFaultVerbs(command, verbs)
  addScenarioVerb(command, verbs)
  addPetVerbs(command, verbs)
  addSnapshotVerbs(command, verbs)
  addSpaceVerbs(command, verbs)
  addReplicaVerb(command, verbs)
  addRequestVerbs(command, verbs)
  addConductVerb(command, verbs)
  addDriftVerb(command, verbs)
  addLifeVerbs(command, verbs, io)
  addSharedFlags(command)
  addHelpCommand(command)
  explain(command, { examples: EXAMPLES, notes: NOTES })
}
