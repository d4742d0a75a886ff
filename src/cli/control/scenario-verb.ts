import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { ScenarioContent } from '../../options/options.js'
import { packagedScenarios } from '../../options/packaged-scenarios.js'
import { loadScenario } from '../../options/scenario-file.js'
import { LARGEST_OPTIONS_FILE, readYamlMap } from '../../options/yaml-map.js'
import { readRegularFile } from '../../system/regular-file.js'
import { escapeControls } from '../escape-controls.js'
import type { VerbCommands } from './verb-commands.js'

export function addScenarioVerb(parent: Command, { verb, call }: VerbCommands): void {
  verb(parent, 'scenario', 'apply a bundle of switches; the others stay as they are', [
    'scenario storm',
    'scenario ./black-friday.yaml',
  ])
    .argument('<name|file>', `a packaged one (${packagedScenarios().join(', ')}), or a YAML file`)
    .action(
      call(async ({ controls, io }, nameOrFile: string) => {
        const value = await controls.scenario(readScenario(nameOrFile, io.cwd))
        return { value, text: `Applied the scenario ${escapeControls(nameOrFile)}.` }
      }),
    )
}

/**
 * A packaged scenario's name, or the content of a file, which is read here because
 * the sandbox may run elsewhere.
 *
 * @throws OptionsError with everything that is wrong with it, by line and column
 */
function readScenario(nameOrFile: string, cwd: string): string | ScenarioContent {
  loadScenario(nameOrFile, cwd)
  if (packagedScenarios().includes(nameOrFile)) return nameOrFile
  const map = readYamlMap(readRegularFile(resolve(cwd, nameOrFile), LARGEST_OPTIONS_FILE).toString(), nameOrFile)
  return Object.fromEntries('entries' in map ? map.entries : [])
}
