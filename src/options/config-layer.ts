import { join } from 'node:path'
import { openingProblem, readRegularFile } from '../system/regular-file.js'
import { type Layer, layerOf } from './layer.js'
import { LARGEST_OPTIONS_FILE, readYamlMap } from './yaml-map.js'

/** The config file, looked for in the working directory. */
export const CONFIG_FILE = 'petstore-sandbox.yaml'

/** The options of the config file; none if there is no file. */
export function configLayer(cwd: string): Layer {
  let text: string
  try {
    text = readRegularFile(join(cwd, CONFIG_FILE), LARGEST_OPTIONS_FILE).toString()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const problems = code === 'ENOENT' ? [] : [`${CONFIG_FILE}: cannot be read (${openingProblem(error)})`]
    return { given: new Map(), problems }
  }
  const map = readYamlMap(text, CONFIG_FILE)
  return 'problems' in map
    ? { given: new Map(), problems: map.problems }
    : layerOf(map.entries, { kebab: true, ...map })
}
