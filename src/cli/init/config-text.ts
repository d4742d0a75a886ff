import type { SettingName } from '../../domain/settings.js'
import { allowedText, isAllowed } from '../../options/allowed.js'
import { camelName, ENV_PREFIX, flagName, kebabName } from '../../options/names.js'
import { OPTION_NAMES, type OptionName, optionRow } from '../../options/table.js'
import { wrapCells } from '../cells.js'

const WIDTH = 100

const EXAMPLES: { readonly [Name in OptionName]?: Name extends SettingName ? never : string } = {
  pets: '500',
  generate: '[categories=50]',
  apiKey: '[my-key, my-pro-key:pro]',
  storm: '0.3,for=30s,every=5m',
  fault: '[listPets:503@20%*3, createPet:connection-reset]',
  scenario: 'storm',
  now: '2030-12-04T23:59:00Z',
  seed: '1',
  spec: 'openapi.yaml',
  mock: 'listOrders',
  log: 'pretty',
}

const IN_FILES = OPTION_NAMES.filter((name) => !optionRow(name).notInFiles)
const NOT_IN_FILES = OPTION_NAMES.filter((name) => optionRow(name).notInFiles)

/** Sets only the fixtures folder; all other options are commented out with `#`, prose with `# `. */
export function configText(fixtures: string, schema: string): string {
  const groups = [...new Set(IN_FILES.map((name) => optionRow(name).group))]
  return [
    `# yaml-language-server: $schema=${schema}`,
    '# Settings for a sandbox started in this folder.',
    '# Remove the # from a line to set its switch. Flags and the environment',
    `# (${ENV_PREFIX}…) override this file, and so does a scenario that they choose.`,
    '# Only flags and the environment can set:',
    ...wrapCells(NOT_IN_FILES.map(flagName).join(', '), WIDTH - 4).map((line) => `#   ${line}`),
    ...groups.flatMap((group) => ['', '', `# === ${group} ===`, ...groupLines(group, fixtures)]),
    '',
  ].join('\n')
}

function groupLines(group: string, fixtures: string): readonly string[] {
  return IN_FILES.filter((name) => optionRow(name).group === group).flatMap((name) => [
    '',
    ...proseLines(name),
    name === 'fixtures' ? `fixtures: ${fixtures}` : `#${switchLine(name)}`,
  ])
}

function proseLines(name: OptionName): readonly string[] {
  const { description, default: fallback, reads } = optionRow(name)
  const standard = fallback ?? (reads === 'switch' ? 'false' : 'none')
  return [description, `${allowedText(name)}; default: ${standard}`]
    .flatMap((text) => wrapCells(capitalised(text), WIDTH - 2))
    .map((line) => `# ${line}`)
}

/** A single letter at the start is a placeholder and keeps its case. */
function capitalised(text: string): string {
  return text.replace(/^[a-z](?=[a-z])/, (letter) => letter.toUpperCase())
}

function switchLine(name: OptionName): string {
  const { reads, negative, default: fallback = '', example = EXAMPLES[name] } = optionRow(name)
  if (reads === 'switch') return `${kebabName({ name, negated: negative === true })}: true`
  if (example === undefined && !isAllowed(name, fallback)) {
    throw new TypeError(`${camelName({ name, negated: false })} has no default that can be written, and no example.`)
  }
  return `${kebabName({ name, negated: false })}: ${example ?? yamlText(fallback)}`
}

function yamlText(text: string): string {
  return /^[A-Za-z0-9./]/.test(text) ? text : `'${text}'`
}
