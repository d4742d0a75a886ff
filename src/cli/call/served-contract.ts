import { fetchControl } from '../../client/control-fetch.js'
import { chosenSandbox, DEFAULT_SOURCE, type TargetChoice } from '../../client/target.js'
import type { Contract } from '../../contract/contract.js'
import { packagedTag } from '../../contract/packaged-contract.js'
import { readControlUrl } from '../../control/path.js'
import { MIB } from '../../domain/numbers.js'
import { SECOND_MS } from '../../domain/time.js'
import type { CliIo } from '../io.js'

/**
 * The contract of the sandbox to call; undefined for the packaged one, or without a sandbox.
 *
 * @param waits whether to wait for the default sandbox, which may not run
 */
export async function contractOfSandbox(
  choice: Pick<TargetChoice, 'target' | 'baseUrl'>,
  io: CliIo,
  { waits = true }: { readonly waits?: boolean } = {},
): Promise<Contract | undefined> {
  // A problem with the target is reported when it is called.
  const sandbox = await chosenSandbox(choice, io).catch(() => undefined)
  const controlUrl = sandbox === undefined ? undefined : readControlUrl(new URL(sandbox.value).origin)
  if (controlUrl === undefined) return undefined
  const isDefault = sandbox?.source === DEFAULT_SOURCE
  if (isDefault && !waits) return undefined
  // An unknown sandbox on the default port gets no token.
  return await servedContract(controlUrl, isDefault ? undefined : io.env.PETSTORE_SANDBOX_CONTROL_TOKEN)
}

const LIMITS = { timeout: 10 * SECOND_MS, maxBody: 40 * MIB } as const

export async function servedContract(controlUrl: string, token: string | undefined): Promise<Contract | undefined> {
  const name = `${controlUrl}/openapi.json`
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  try {
    const headers = { 'if-none-match': await packagedTag(), connection: 'close', ...authorization }
    const { status, text } = await fetchControl(name, { headers }, LIMITS)
    if (status !== 200) return undefined
    const { readContractText } = await import('../../contract/load-contract.js')
    // Linear patterns, since the document is not the user's own file.
    return await readContractText(text, { keepsPets: false, name, patterns: 'linear' })
  } catch {
    return undefined
  }
}
