import { resolve } from '../system/paths.js'
import { openingProblem, readRegularFile } from '../system/regular-file.js'
import { packagedLayer, packagedScenarios } from './packaged-scenarios.js'
import { quoted } from './problem.js'
import { brokenScenario, readScenario, type Scenario, type ScenarioLayer, scenarioLayer } from './scenario.js'
import { LARGEST_OPTIONS_FILE, readYamlMap } from './yaml-map.js'

/**
 * Loads a packaged scenario by its name, or a file.
 *
 * @param cwd what a file's path is relative to
 * @throws OptionsError if there is none, or with everything that is wrong with it
 */
export function loadScenario(nameOrFile: string, cwd: string): Scenario {
  return readScenario(loadScenarioLayer(nameOrFile, cwd))
}

/** @param origin who asked for it: `--scenario` */
export function loadScenarioLayer(nameOrFile: string, cwd: string, origin = 'scenario'): ScenarioLayer {
  return isFile(nameOrFile)
    ? fileLayer(resolve(cwd, nameOrFile), nameOrFile, origin)
    : packagedLayer(nameOrFile, origin, `to name a file, write ./${nameOrFile}.yaml`)
}

/** A path or a YAML file's name; everything else is the name of a packaged scenario. */
function isFile(nameOrFile: string): boolean {
  return /[/\\]|\.ya?ml$/.test(nameOrFile)
}

/** The file that a scenario is read from, as it was named; undefined for anything else. */
export function scenarioFile(given: unknown): string | undefined {
  return typeof given === 'string' && isFile(given) ? given : undefined
}

function fileLayer(path: string, shown: string, origin: string): ScenarioLayer {
  let text: string
  try {
    text = readRegularFile(path, LARGEST_OPTIONS_FILE).toString()
  } catch (error) {
    const isMissing = Object(error).code === 'ENOENT'
    const why = isMissing ? 'there is no such file' : `the file cannot be read (${openingProblem(error)})`
    const names = packagedScenarios().join(', ')
    return brokenScenario([`${origin} ${quoted(shown)}: ${why}; packaged scenarios are ${names}`])
  }
  return textLayer(text, shown)
}

function textLayer(text: string, shown: string): ScenarioLayer {
  const map = readYamlMap(text, shown)
  return 'problems' in map
    ? brokenScenario(map.problems)
    : scenarioLayer(map.entries, { kebab: true, where: map.where })
}
