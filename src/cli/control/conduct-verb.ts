import type { Command } from 'commander'
import { chalkFor, colourLevel } from '../colour.js'
import { NO_CONDUCT, withConduct } from '../conduct/conduct-report.js'
import { textReport } from '../conduct/text-report.js'
import type { VerbCommands } from './verb-commands.js'

export function addConductVerb(parent: Command, { verb, call }: VerbCommands): void {
  verb(parent, 'conduct', "how well clients kept the service's rules, and what each plan would have done", [
    'conduct',
    'conduct --space checkout -o json',
  ]).action(
    call(async ({ controls, io }) => {
      const value = await controls.conduct()
      const chalk = await chalkFor(colourLevel(io.stdout, io.env))
      return { value, text: textReport(withConduct(NO_CONDUCT, value), chalk).trimEnd(), coloured: true }
    }),
  )
}
