import { type KnownTarget, knownTargets, SANDBOX, storedKey } from '../../client/target.js'
import { readTargetConfig } from '../../client/target-config.js'
import { TargetError } from '../../client/target-error.js'
import type { Environment } from '../../system/environment.js'
import { printResult } from '../control/result.js'
import { table } from '../control/table.js'
import type { CliIo } from '../io.js'
import { say } from '../print.js'

/** A target as shown: of its key, only whether there is one. */
interface TargetView {
  readonly name: string
  readonly isDefault: boolean
  readonly baseUrl: { readonly value: string; readonly source: string } | null
  readonly apiKey: { readonly present: boolean; readonly source: string | null }
}

/** Prints every target, with where each value comes from. */
export async function listTargets(io: CliIo, json: boolean): Promise<void> {
  const config = await readTargetConfig(io.env)
  const views: TargetView[] = []
  const problems: string[] = []
  for (const target of await knownTargets(config, io)) {
    const { problem, ...apiKey } = await keyOf(target, io.env)
    views.push({
      name: target.name,
      isDefault: target.name === (config.use ?? SANDBOX),
      baseUrl: target.baseUrl ?? null,
      apiKey,
    })
    problems.push(...[target.warning, problem].filter((one) => one !== undefined))
  }
  await printResult({ value: views, text: (width) => textOf(views, width) }, io, json)
  for (const problem of new Set(problems)) say(io.stderr, `warning: ${problem}`)
}

async function keyOf(
  target: KnownTarget,
  env: Environment,
): Promise<TargetView['apiKey'] & { readonly problem?: string }> {
  try {
    const key = await storedKey(target, env)
    return { present: key !== undefined, source: key?.source ?? null }
  } catch (error) {
    if (!(error instanceof TargetError)) throw error
    return { present: false, source: target.keyFile ?? null, problem: error.message }
  }
}

function textOf(views: readonly TargetView[], width: number): string {
  const rows = views.map(({ name, isDefault, baseUrl, apiKey }) => [
    isDefault ? `${name} *` : name,
    baseUrl?.value ?? 'not set',
    baseUrl?.source ?? '',
    apiKey.present ? 'present' : 'none',
    apiKey.source ?? '',
  ])
  return `${table(['target', 'base address', 'from', 'key', 'from'], rows, width)}\n* default target`
}
