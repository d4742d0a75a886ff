import { didYouMean } from '../domain/suggest.js'
import { packagedScenarios, packageText } from '../system/package-files.js'
import { resolve } from '../system/paths.js'
import { openingProblem, readRegularFile } from '../system/regular-file.js'
import { quoted } from './problem.js'
import { brokenScenario, readScenario, type Scenario, type ScenarioLayer, scenarioLayer } from './scenario.js'
import { LARGEST_OPTIONS_FILE, readYamlMap } from './yaml-map.js'

export { packagedScenarios } from '../system/package-files.js'

/**
 * Loads a packaged scenario by its name, or a file.
 *
 * @param cwd what a file's path is relative to
 * @throws OptionsError if there is none, or with everything that is wrong with it
 */
export function loadScenario(nameOrFile: string, cwd: string): Scenario {
  return readScenario(loadScenarioLayer(nameOrFile, cwd))
}

/**
 * Loads a packaged scenario by its name only, for callers that may not make this process read files.
 *
 * @throws OptionsError if there is none
 */
export function loadPackagedScenario(name: string): Scenario {
  return readScenario(packagedLayer(name, 'scenario', 'to apply a file, give its content'))
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

function packagedLayer(name: string, origin: string, orFile: string): ScenarioLayer {
  const names = packagedScenarios()
  if (names.includes(name)) {
    const file = `scenarios/${name}.yaml`
    return textLayer(packageText(`fixtures/${file}`), file)
  }
  const known = `the packaged ones are ${names.join(', ')}`
  const problem = `is not a packaged scenario (${known}); ${orFile}${didYouMean(name, names)}`
  return brokenScenario([`${origin} ${quoted(name)}: ${problem}`])
}

function fileLayer(path: string, shown: string, origin: string): ScenarioLayer {
  let text: string
  try {
    text = readRegularFile(path, LARGEST_OPTIONS_FILE).toString()
  } catch (error) {
    const isMissing = Object(error).code === 'ENOENT'
    const why = isMissing ? 'there is no such file' : `the file cannot be read (${openingProblem(error)})`
    const packaged = packagedScenarios().join(', ')
    return brokenScenario([`${origin} ${quoted(shown)}: ${why}; packaged scenarios are ${packaged}`])
  }
  return textLayer(text, shown)
}

function textLayer(text: string, shown: string): ScenarioLayer {
  const map = readYamlMap(text, shown)
  return 'problems' in map
    ? brokenScenario(map.problems)
    : scenarioLayer(map.entries, { kebab: true, where: map.where })
}
