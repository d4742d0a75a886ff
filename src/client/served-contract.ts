import type { Contract } from '../contract/contract.js'
import { packagedTag } from '../contract/packaged-contract.js'
import { MIB } from '../domain/numbers.js'
import { SECOND_MS } from '../domain/time.js'
import { fetchControl } from './control-fetch.js'

const LIMITS = { timeout: 10 * SECOND_MS, maxBody: 40 * MIB } as const

export async function servedContract(controlUrl: string, token: string | undefined): Promise<Contract | undefined> {
  const name = `${controlUrl}/openapi.json`
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  try {
    const headers = { 'if-none-match': await packagedTag(), connection: 'close', ...authorization }
    const { status, text } = await fetchControl(name, { headers }, LIMITS)
    if (status !== 200) return undefined
    const { readContractText } = await import('../contract/load-contract.js')
    // Linear patterns, since the document is not the user's own file.
    return await readContractText(text, { handled: 'all', keepsPets: false, name, patterns: 'linear' })
  } catch {
    return undefined
  }
}
