import { describeOpenError, readRegularFile, resolve } from '../system/regular-file.js'
import { quoted } from './problem.js'
import {
  brokenScenario,
  packagedLayer,
  packagedScenarios,
  readScenario,
  type Scenario,
  type ScenarioLayer,
  scenarioLayer,
} from './scenario.js'
import { isAddress } from './values/reading.js'
import { MAX_OPTIONS_FILE_BYTES, readYamlMap } from './yaml-map.js'

/** Loads a packaged scenario by its name, or a file. @throws OptionsError that lists every problem */
export function loadScenario(nameOrFile: string, cwd: string): Scenario {
  return readScenario(loadScenarioLayer(nameOrFile, cwd))
}

/** @param origin names the option in problems: `--scenario` */
export function loadScenarioLayer(nameOrFile: string, cwd: string, origin = 'scenario'): ScenarioLayer {
  if (isAddress(nameOrFile))
    return brokenScenario([`${origin} ${quoted(nameOrFile)}: is an address; download it and name the file`])
  if (!isFile(nameOrFile)) return packagedLayer(nameOrFile, origin, `to name a file, write ./${nameOrFile}.yaml`)
  let text: string
  try {
    text = readRegularFile(resolve(cwd, nameOrFile), MAX_OPTIONS_FILE_BYTES).toString()
  } catch (error) {
    const isMissing = Object(error).code === 'ENOENT'
    const why = isMissing ? 'the file does not exist' : `the file cannot be read (${describeOpenError(error)})`
    const names = packagedScenarios().join(', ')
    return brokenScenario([`${origin} ${quoted(nameOrFile)}: ${why}; packaged scenarios are ${names}`])
  }
  const map = readYamlMap(text, nameOrFile)
  return 'problems' in map ? brokenScenario(map.problems) : scenarioLayer(map.entries, map.where)
}

/** A path or the name of a YAML file; everything else is the name of a packaged scenario. */
function isFile(nameOrFile: string): boolean {
  return /[/\\]|\.ya?ml$/.test(nameOrFile)
}

export function scenarioFile(given: unknown): string | undefined {
  return typeof given === 'string' && isFile(given) ? given : undefined
}
