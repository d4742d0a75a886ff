import type { Verb } from './verb.js'
import { keyVerbs } from './verbs/keys.js'
import { requestVerbs } from './verbs/requests.js'
import { resourceVerbs } from './verbs/resources.js'
import { sandboxVerbs, snapshotVerbs } from './verbs/sandbox.js'
import { spaceVerbs } from './verbs/space.js'
import { troubleVerbs } from './verbs/trouble.js'

/** All verbs by name. Routes, OpenAPI description, methods, commands, types and docs/control-api.md are derived from this table. */
export const VERBS = {
  ...spaceVerbs,
  ...keyVerbs,
  ...troubleVerbs,
  ...resourceVerbs,
  ...snapshotVerbs,
  ...requestVerbs,
  ...sandboxVerbs,
}

/** Another method and command of a verb. */
export interface VerbAlias extends Pick<Verb, 'summary' | 'args' | 'command' | 'example'> {
  readonly of: keyof typeof VERBS
  /** Fields that are always the same. */
  readonly given?: object
}

export const VERB_ALIASES: Readonly<Record<string, VerbAlias>> = {
  'clock.freeze': { of: 'clock.set', summary: 'Stop the clock', given: { frozen: true }, command: 'clock freeze' },
  'clock.resume': {
    of: 'clock.set',
    summary: 'Let the clock run again',
    given: { frozen: false },
    command: 'clock resume',
  },
  sunset: {
    of: 'settings.change',
    summary: 'Set whether deprecated operations are removed',
    args: ['sunset'],
    command: 'sunset <mode>',
    example: { sunset: 'after' },
  },
}
