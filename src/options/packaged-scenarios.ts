import { didYouMean } from '../domain/suggest.js'
import { packaged } from './generated/packaged-scenarios.js'
import { type Path, pathText, quoted } from './problem.js'
import { brokenScenario, readScenario, type Scenario, type ScenarioLayer, scenarioLayer } from './scenario.js'

/** Names of the scenarios that come with the package, sorted. */
export function packagedScenarios(): readonly string[] {
  return Object.keys(packaged)
}

/** A packaged scenario by its name. It reads no file: a verb may ask for it. @throws OptionsError if there is none */
export function loadPackagedScenario(name: string): Scenario {
  return readScenario(packagedLayer(name, 'scenario', 'to apply a file, give its content'))
}

/** @param orFile how a file would be given instead */
export function packagedLayer(name: string, origin: string, orFile: string): ScenarioLayer {
  const names = packagedScenarios()
  const entries = names.includes(name) ? packaged[name] : undefined
  if (entries !== undefined) {
    const where = (key: string, path: Path) => `scenarios/${name}.yaml: ${pathText(key, path)}`
    return scenarioLayer(entries, { kebab: true, where })
  }
  const known = `the packaged ones are ${names.join(', ')}`
  const problem = `is not a packaged scenario (${known}); ${orFile}${didYouMean(name, names)}`
  return brokenScenario([`${origin} ${quoted(name)}: ${problem}`])
}
