import { createRequire } from 'node:module'

/** The library as Node finds it beside the sources, or as the build puts it beside the programs. */
const PACKAGE = import.meta.url.endsWith('.ts') ? 'yaml' : './yaml.cjs'

/** Loads the YAML library, which most starts do not need. At once, since options are read without waiting. */
export function loadYaml(): typeof import('yaml') {
  return createRequire(import.meta.url)(PACKAGE)
}
