import { OPTION_NAMES, optionRow } from '../../src/options/table.js'
import { everyCommand, helpOf } from './every-command.js'

const REGION = /(<!-- help of ([\w-]+) -->\n).*?(<!-- end of help -->)/gs
/** Wider than any line of the help, so that no line is wrapped. */
const UNWRAPPED = 10_000
/** Its commands are in docs/control-api.md, beside the requests and methods that do the same. */
const COMMANDS_ELSEWHERE = 'control'
/** Headings of the help whose options have a document of their own. */
const ELSEWHERE = new Set(OPTION_NAMES.map((name) => optionRow(name).group))

/** A part of a help: `Options:` with its lines, or `Usage: …` without any. */
interface Part {
  readonly title: string
  readonly items: readonly (readonly [term: string, about: string])[]
}

/** The text of docs/cli.md, with what the help of each command says as tables. */
export async function withReference(document: string): Promise<string> {
  const commands = await everyCommand()
  const regions = [...document.matchAll(REGION)].map(([, , name = '']) => name)
  const tables = await Promise.all(regions.map((name) => tablesOf(name, commands)))
  return document.replace(REGION, (_, begin: string, name: string, end: string) => {
    return [begin, ...(tables[regions.indexOf(name)] ?? []), '\n', end].join('')
  })
}

/** Two tables: its own flags, and the commands below it with the names of theirs. */
async function tablesOf(name: string, commands: readonly (readonly string[])[]): Promise<readonly string[]> {
  const parts = partsOf(await helpOf([name], UNWRAPPED)).filter(({ title }) => !isCommands(title))
  const flags = parts.flatMap(({ title, items }) => (ELSEWHERE.has(title) ? [] : items))
  const below = commands.filter((path) => path[0] === name && path.length > 1 && !isGroup(path, commands))
  const rows = await Promise.all(name === COMMANDS_ELSEWHERE ? [] : below.map((path) => rowOf(path)))
  const usage = usageIn(await helpOf([name], UNWRAPPED))
  return [
    ...(usage === name ? [] : [`\n\`petstore-sandbox ${usage}\`\n`]),
    ...table(
      ['argument or flag', 'meaning'],
      flags.filter(isOfItsOwn).map(([term, about]) => [code(term), text(about)]),
    ),
    ...table(['command', 'does', 'flags'], rows),
  ]
}

async function rowOf(path: readonly string[]): Promise<readonly string[]> {
  const help = await helpOf(path, UNWRAPPED)
  const items = partsOf(help)
    .filter(({ title }) => !isCommands(title))
    .flatMap((part) => part.items)
    .filter(isOfItsOwn)
  const flags = items.filter(([term]) => term.startsWith('-')).map(([term]) => code(term))
  const does = help.split('\n', 1)[0] ?? ''
  return [code(usageIn(help)), text(does.replace(/\.$/, '')), flags.join(', ')]
}

function partsOf(help: string): readonly Part[] {
  return help.split('\n\n').flatMap((paragraph) => {
    const [first = '', ...lines] = paragraph.trimEnd().split('\n')
    const isPart = /^\S.*:$/.test(first) && !/^(?:Examples|Exit codes)\b|\(see /.test(first)
    const items = lines.flatMap((line) => {
      const [, term, about = ''] = /^ {2}(\S.*?)(?: {2,}(.*))?$/.exec(line) ?? []
      return term === undefined ? [] : [[term, about] as const]
    })
    return isPart && items.length === lines.length ? [{ title: first.slice(0, -1), items }] : []
  })
}

const isCommands = (title: string) => title === 'Commands' || title === 'Operations'
/** Neither a flag that every command has, nor an environment variable. */
const isOfItsOwn = ([term]: readonly [string, string]) =>
  !/--(?:help|debug)$|--output <form>$/.test(term) && !/^[A-Z]/.test(term)
/** `control clock`, which stands for `control clock show`. */
const isGroup = (path: readonly string[], commands: readonly (readonly string[])[]) =>
  commands.some((other) => other.length > path.length && path.every((word, at) => other[at] === word))
const code = (term: string) => `\`${term.replaceAll('|', '\\|')}\``
/** What Markdown would read as its own is not. */
const text = (about: string) => about.replace(/[|<*]/g, (mark) => `\\${mark}`)

/** How it is written, without what every command can have. */
function usageIn(help: string): string {
  const [, usage = ''] = /^Usage: petstore-sandbox (.*)$/m.exec(help) ?? []
  return usage.replace(/ \[(?:options|command)\]/g, '')
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return []
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return [`\n${lines.join('\n')}\n`]
}
