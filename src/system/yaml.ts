import { createRequire } from 'node:module'

const PACKAGE = import.meta.url.endsWith('.ts') ? 'yaml' : './yaml.cjs'

/** Loads the YAML library on demand, and synchronously, because options are read synchronously. */
export function loadYaml(): typeof import('yaml') {
  return createRequire(import.meta.url)(PACKAGE)
}
