import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Layer, layerOf } from './layer.js'
import { readYamlMap } from './yaml-map.js'

/** The config file, looked for in the working directory. */
export const CONFIG_FILE = 'petstore-sandbox.yaml'

/** What the config file says; nothing if there is none. */
export function configLayer(cwd: string): Layer {
  let text: string
  try {
    text = readFileSync(join(cwd, CONFIG_FILE), 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { given: new Map(), problems: code === 'ENOENT' ? [] : [`${CONFIG_FILE}: cannot be read (${code})`] }
  }
  const map = readYamlMap(text, CONFIG_FILE)
  return 'problems' in map
    ? { given: new Map(), problems: map.problems }
    : layerOf(map.entries, { kebab: true, ...map })
}
