import { fetchControl } from '../../client/control-fetch.js'
import { chosenSandbox, DEFAULT_SOURCE, type TargetChoice } from '../../client/target.js'
import type { Contract } from '../../contract/contract.js'
import { packagedTag } from '../../contract/packaged-contract.js'
import { readControlUrl } from '../../control/path.js'
import { type Bytes, MIB } from '../../domain/numbers.js'
import { type DurationMs, SECOND_MS } from '../../domain/time.js'
import type { CliIo } from '../io.js'

const LIMIT_MS: DurationMs = 10 * SECOND_MS
const MAX_BODY: Bytes = 40 * MIB

/**
 * The contract of the sandbox to call; undefined for the packaged one, or without a sandbox.
 *
 * @param options `waits`: whether to wait for the default sandbox, which may not run; `limit`: how long to look
 */
export async function contractOfSandbox(
  choice: Pick<TargetChoice, 'target' | 'baseUrl'>,
  io: CliIo,
  { waits = true, limit = LIMIT_MS }: { readonly waits?: boolean; readonly limit?: DurationMs } = {},
): Promise<Contract | undefined> {
  const endsAt = io.monotonic() + Math.min(limit, LIMIT_MS)
  // A problem with the target is reported when it is called.
  const sandbox = await chosenSandbox(choice, { env: io.env, cwd: io.cwd, limit }).catch(() => undefined)
  const controlUrl = sandbox === undefined ? undefined : readControlUrl(new URL(sandbox.value).origin)
  if (controlUrl === undefined) return undefined
  if (sandbox?.source === DEFAULT_SOURCE && !waits) return undefined
  // Any program may listen at another address.
  const token = sandbox?.isOwn === true ? io.env.PETSTORE_SANDBOX_CONTROL_TOKEN : undefined
  return await servedContract(controlUrl, token, Math.max(1, endsAt - io.monotonic()))
}

export async function servedContract(
  controlUrl: string,
  token: string | undefined,
  timeout: DurationMs = LIMIT_MS,
): Promise<Contract | undefined> {
  const name = `${controlUrl}/openapi.json`
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  try {
    const headers = { 'if-none-match': await packagedTag(), connection: 'close', ...authorization }
    const { status, text } = await fetchControl(name, { headers }, { timeout, maxBody: MAX_BODY })
    if (status !== 200) return undefined
    const { readContractText } = await import('../../openapi/read-text.js')
    // Linear patterns, since the document is not the user's own file.
    return await readContractText(text, { isServed: false, name, patterns: 'linear' })
  } catch {
    return undefined
  }
}
