import type { EngineAnswer, EngineRequest } from '../../contract/engine.js'
import { NoAnswerError } from '../no-answer.js'
import { proxies } from '../proxies.js'

/** The instance that is asked. */
export interface Service {
  /** @throws NoAnswerError */
  ask(request: EngineRequest): Promise<EngineAnswer>
  close(): Promise<void>
}

/** More than any documented answer; an endless one must not fill the memory. */
const LARGEST_ANSWER = 16 * 1024 * 1024

/** Opens the way to an instance, through the proxies of the environment unless it is on this machine. */
export async function openService(
  baseUrl: string,
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs: number,
): Promise<Service> {
  const { EnvHttpProxyAgent, request: exchange } = await import('undici')
  const agent = new EnvHttpProxyAgent({ ...proxies(env), maxResponseSize: LARGEST_ANSWER })
  return {
    async ask({ method, path, query, headers, body }) {
      try {
        const answer = await exchange(`${baseUrl}${path}${query === '' ? '' : `?${query}`}`, {
          dispatcher: agent,
          method: method as 'GET',
          headers,
          signal: AbortSignal.timeout(timeoutMs),
          ...(body === '' ? {} : { body }),
        })
        return { status: answer.statusCode, headers: flat(answer.headers), body: await answer.body.text() }
      } catch (error) {
        throw NoAnswerError.from(error, baseUrl, timeoutMs, 1)
      }
    },
    // An open connection would keep the process.
    close: () => agent.destroy(),
  }
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), [value].flat().join(', ')]],
    ),
  )
}
