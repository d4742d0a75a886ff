import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fixRefusal, PROBLEM_FIXES, REASON_FIXES } from '../src/advice/fixes.js'
import { inputField, positionalFields, type Verb } from '../src/control/verb.js'
import { FAILURE_EXIT_CODES, type FailureCode } from '../src/domain/failures.js'
import { PROBLEMS, type ProblemCode, REASONS } from '../src/domain/problems.js'
import { SETTING_NAMES } from '../src/domain/settings.js'
import { DAY_MS, MINUTE_MS } from '../src/domain/time.js'
import { ENV_PREFIX, flagName } from '../src/options/names.js'
import { OTHER_VARIABLES } from '../src/options/rows.js'
import { OPTION_NAMES, optionRow } from '../src/options/table.js'
import { packageDirectory } from '../src/system/package-files.js'
import { METHODS, type MethodRow } from './generate-methods.js'

/** Documents with tables that `npm run generate` writes, between markers such as `<!-- verbs -->` and `<!-- end -->`. */
export const DOCUMENTS = ['docs/control-api.md', 'docs/errors.md', 'docs/switches.md']

const TABLES: Readonly<Record<string, () => string>> = {
  verbs: verbTables,
  options: optionLists,
  variables: variableTable,
  problems: problemTable,
  failures: failureList,
  reasons: reasonTable,
  settings: () => `${SETTING_NAMES.map(code).join(', ')}\n`,
}

export async function writeDocumentTables(): Promise<void> {
  for (const name of DOCUMENTS) {
    const file = join(packageDirectory, name)
    const text = await readFile(file, 'utf8')
    const written = withTables(text)
    if (written !== text) await writeFile(file, written)
  }
}

export function withTables(text: string): string {
  return text.replace(/(<!-- (\w+) -->\n).*?(<!-- end -->)/gs, (whole, begin: string, name: string, end: string) => {
    const table = TABLES[name]
    return table === undefined ? whole : `${begin}\n${table()}\n${end}`
  })
}

function optionLists(): string {
  const groups = [...new Set(OPTION_NAMES.map((name) => optionRow(name).group))]
  const lists = groups.map((group) => {
    const flags = OPTION_NAMES.filter((name) => optionRow(name).group === group).map((name) => {
      const { short, value, see } = optionRow(name)
      const flag = [short === undefined ? [] : `-${short},`, flagName(name), value ?? []].flat().join(' ')
      return see === undefined ? `\`${flag}\`` : `[\`${flag}\`](${see})`
    })
    return `### ${group}\n\n${flags.join(', ')}\n`
  })
  return lists.join('\n')
}

function variableTable(): string {
  return Object.entries(OTHER_VARIABLES)
    .map(([name, meaning]) => `- ${code(ENV_PREFIX + name)}: ${meaning}\n`)
    .join('')
}

function problemTable(): string {
  const rows = Object.entries(PROBLEM_FIXES).map(([name, { cause, fix }]) => {
    return [code(name), String(PROBLEMS[name as ProblemCode].status), `${cause} ${fix}`]
  })
  return table(['code', 'status', 'cause and fix'], rows)
}

function failureList(): string {
  const codes = Object.keys(FAILURE_EXIT_CODES) as FailureCode[]
  const exits = [...new Set(codes.map((name) => FAILURE_EXIT_CODES[name]))].sort((a, b) => a - b)
  const named = (exit: number) => codes.filter((name) => FAILURE_EXIT_CODES[name] === exit).map(code)
  return exits.map((exit) => `- exit code ${exit}: ${named(exit).join(', ')}\n`).join('')
}

function reasonTable(): string {
  const rows = REASONS.map((reason) => {
    const { command = '' } = fixRefusal({ reason, key: 'KEY', wait: reason === 'quota-day' ? DAY_MS : MINUTE_MS }) ?? {}
    return [code(reason), command === '' ? '' : code(command), REASON_FIXES[reason].fix]
  })
  return table(['reason', 'verb of `control`', 'fix'], rows)
}

/** Headings, with the first words of the verbs below each. */
const TOPICS: Readonly<Record<string, string>> = {
  'The state of a space': 'state reset export undo overrides',
  'Settings and the clock': 'settings clock',
  'Keys, plans, bans and logins': 'keys logins',
  'Storms, faults and scenarios': 'storm faults scenario',
  'Records of the contract': 'resources records',
  'Saved states': 'snapshots',
  'Requests and what clients did': 'requests events conduct',
  'Spaces, replicas and the sandbox': 'spaces replicas shutdown',
}

function verbTables(): string {
  const topics = Object.entries(TOPICS).map(([title, names]) => {
    const isIn = ({ verbName }: MethodRow) => names.split(' ').includes(verbName.split('.')[0] ?? '')
    const rows = METHODS.filter(isIn).map(verbRow)
    return `### ${title}\n\n${table(['method', 'request', 'does'], rows)}`
  })
  return topics.join('\n')
}

function verbRow({ path, verb, given, example, isAlias }: MethodRow): readonly string[] {
  const details = verb.details === undefined || isAlias ? '' : ` ${verb.details}`
  const method = `${path}(${example === undefined ? '' : isAlias ? positionalFields(verb).join(', ') : signature(verb)})`
  const command = verb.command?.replace(/ \[-.*/, '') ?? 'no command'
  const isSame = command.replace(/ [[<].*/, '') === path.replaceAll('.', ' ')
  return [
    code(method) + (isSame ? '' : `, ${verb.command === undefined ? command : code(command)}`),
    code(isAlias ? `${verb.method} ${verb.path} ${JSON.stringify(given ?? verb.example)}` : request(verb)),
    `${verb.summary}.${details}`,
  ]
}

/** `key, plan?` */
function signature(verb: Verb): string {
  const args = positionalFields(verb)
  const rest = fieldsOf(verb).filter((field) => !args.includes(bare(field)))
  const positional = args.map((name) => fieldsOf(verb).find((field) => bare(field) === name) ?? name)
  return [...positional, ...(rest.length === 0 ? [] : [`{${rest.length > 6 ? '…' : rest.join(', ')}}`])].join(', ')
}

/** `PUT /faults rules`: the fields are those of the method, unless one of them is the body. */
function request({ method, path, body = '' }: Verb): string {
  return `${method} ${path} ${body}`.trimEnd()
}

function fieldsOf(verb: Verb): readonly string[] {
  const names = positionalFields(verb.input === undefined ? {} : { input: verb.input })
  return names.map((name) => (inputField(verb, name)?.isOptional === true ? `${name}?` : name))
}

const bare = (field: string) => field.replace('?', '')

const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}
