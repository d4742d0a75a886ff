import { resolve } from 'node:path'
import type { Command } from 'commander'
import { readKeyFile } from '../client/api-key.js'
import { TargetError } from '../client/errors.js'
import {
  checkedAddress,
  findOwner,
  findTarget,
  knownTargets,
  requireAddress,
  SANDBOX,
  storedKey,
} from '../client/target.js'
import {
  changeTargetConfig,
  nameProblem,
  PRODUCTION,
  readTargetConfig,
  type StoredTarget,
} from '../client/target-config.js'
import { isSameOrigin } from '../domain/base-address.js'
import { addOutputOptions, type OutputFlags, printResult, type Result, wantsJson } from './control/result.js'
import { addHelpCommand, explain } from './help.js'
import { type CliIo, EXIT } from './io.js'
import { printLine } from './print.js'
import { table } from './table.js'

const SET_EXAMPLE =
  'target set staging --base-url https://staging.example/v1 \\\n      --api-key-file ~/.secrets/staging.key'

const NOTES = `\
Targets are sandbox, staging, production and your own. They are stored in
$XDG_CONFIG_HOME/petstore-sandbox/config.yaml (default: ~/.config). Each key stays
in its own file, and is only sent to the origin of its target. PETSTORE_API_KEY and
--api-key-file override it.`

interface SetFlags {
  readonly baseUrl?: string
  readonly apiKeyFile?: string
}

type Outcome = Result & { readonly notes?: readonly string[] }

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  explain(command, {
    examples: [
      'petstore-sandbox target list',
      'petstore-sandbox target use staging',
      `petstore-sandbox ${SET_EXAMPLE}`,
    ],
    notes: NOTES,
  })
  const verb = (
    usage: string,
    description: string,
    example: string,
    act: (name: string, flags: SetFlags) => Promise<Outcome>,
  ) => {
    const made = command.command(usage, { isDefault: usage === 'list' }).description(description)
    addOutputOptions(made).action(async () => {
      const flags = made.opts<SetFlags & OutputFlags>()
      const { notes = [], ...result } = await act(made.args[0] ?? '', flags)
      await printResult(result, io, wantsJson(flags))
      for (const note of notes) printLine(io.stderr, note)
      finish(EXIT.ok)
    })
    return explain(made.option('--debug', 'show stack traces'), { examples: [`petstore-sandbox ${example}`] })
  }
  verb('list', 'list the targets and where each value comes from', 'target list', () => listTargets(io))
  verb('set <name>', 'set the address of a target and the file of its key', SET_EXAMPLE, (name, flags) =>
    setTarget(name, flags, io),
  )
    .option('--base-url <url>', 'base address, ending in its version segment')
    .option('--api-key-file <file>', 'file that contains only the API key')
  verb('use <name>', 'choose the default target; never production', 'target use staging', (name) => useTarget(name, io))
  verb('remove <name>', 'remove the stored settings of a target', 'target remove staging', (name) =>
    removeTarget(name, io),
  )
  addHelpCommand(command)
}

async function listTargets(io: CliIo): Promise<Outcome> {
  const config = await readTargetConfig(io.env)
  const problems = new Set<string>()
  const value = await Promise.all(
    (await knownTargets(config, io)).map(async (target) => {
      if (target.warning !== undefined) problems.add(target.warning)
      const key = await storedKey(target, io.env).catch((error: unknown) => {
        if (!(error instanceof TargetError)) throw error
        problems.add(error.message)
        return undefined
      })
      return {
        name: target.name,
        isDefault: target.name === (config.use ?? SANDBOX),
        baseUrl: target.baseUrl ?? null,
        apiKey: { present: key !== undefined, source: key?.source ?? target.keyFile ?? null },
      }
    }),
  )
  const rows = value.map(({ name, isDefault, baseUrl, apiKey }) => [
    isDefault ? `${name} *` : name,
    baseUrl?.value ?? 'not set',
    baseUrl?.source ?? '',
    apiKey.present ? 'present' : 'none',
    apiKey.source ?? '',
  ])
  return {
    value,
    text: (width) => `${table(['target', 'base address', 'from', 'key', 'from'], rows, width)}\n* default target`,
    notes: [...problems].map((problem) => `warning: ${problem}`),
  }
}

/** Values that are not given stay, except a key file when the target moves to another origin. */
async function setTarget(name: string, flags: SetFlags, io: CliIo): Promise<Outcome> {
  const problem = nameProblem(name)
  if (problem !== undefined) throw invalid(`Target ${JSON.stringify(name)}: ${problem}`)
  if (flags.apiKeyFile === '-' || flags.apiKeyFile === '')
    throw invalid('--api-key-file: must be a permanent file, since the key itself is not stored')
  if (flags.baseUrl === undefined && flags.apiKeyFile === undefined)
    throw invalid('--base-url or --api-key-file is needed: there is nothing to set')
  const before: StoredTarget = (await readTargetConfig(io.env)).targets.get(name) ?? {}
  const baseUrl = flags.baseUrl === undefined ? before.baseUrl : checkedAddress(flags.baseUrl).value
  if (baseUrl === undefined && name !== SANDBOX)
    throw invalid(`--base-url is needed: the target ${JSON.stringify(name)} has no base address yet`)
  const isMoved = flags.baseUrl !== undefined && !(before.baseUrl && baseUrl && isSameOrigin(before.baseUrl, baseUrl))
  const kept = isMoved ? undefined : before.apiKeyFile
  const apiKeyFile = flags.apiKeyFile === undefined ? kept : resolve(io.cwd, flags.apiKeyFile)
  await changeTargetConfig(io.env, {
    target: { name, kept: { ...(baseUrl && { baseUrl }), ...(apiKeyFile && { apiKeyFile }) } },
  })

  const notes: string[] = []
  if (apiKeyFile !== undefined) {
    await readKeyFile(apiKeyFile, `--api-key-file ${JSON.stringify(apiKeyFile)}`).catch((error: Error) =>
      notes.push(`note: ${error.message}.`),
    )
  } else if (before.apiKeyFile !== undefined) {
    const file = JSON.stringify(before.apiKeyFile)
    notes.push(`note: Its key file ${file} was for another origin and has been dropped.`)
  }
  const value = { name, baseUrl: baseUrl ?? null, apiKeyFile: apiKeyFile ?? null }
  return { value, text: `${name}: ${baseUrl ?? 'the running sandbox'}`, notes, next: [verifyCommand(name)] }
}

/** Production cannot be the default: an old choice must not decide what a command writes to today. */
async function useTarget(name: string, io: CliIo): Promise<Outcome> {
  const known = await knownTargets(await readTargetConfig(io.env), io)
  const target = findTarget(known, name)
  if (name === PRODUCTION || (target.baseUrl && findOwner(known, target.baseUrl.value)?.name === PRODUCTION))
    throw invalid(`Production cannot be the default target: give -t ${name} each time.`)
  const { value: baseUrl } = requireAddress(target)
  await changeTargetConfig(io.env, { use: name === SANDBOX ? null : name })
  return { value: { name, baseUrl }, text: `${name}: ${baseUrl}`, next: [verifyCommand(name)] }
}

async function removeTarget(name: string, io: CliIo): Promise<Outcome> {
  const config = await readTargetConfig(io.env)
  findTarget(await knownTargets(config, io), name)
  if (!config.targets.has(name))
    return { value: { removed: null }, text: '', note: `The target ${name} has no stored settings.` }
  const wasUsed = config.use === name
  await changeTargetConfig(io.env, { target: { name, kept: null }, ...(wasUsed ? { use: null } : {}) })
  return {
    value: { removed: name },
    text: `Removed the target ${name}.`,
    notes: wasUsed ? [`The default target is ${SANDBOX} again.`] : [],
  }
}

function verifyCommand(name: string): string {
  return `npx petstore-sandbox verify -t ${name}`
}

function invalid(message: string): TargetError {
  return new TargetError('INVALID_TARGET', message)
}
