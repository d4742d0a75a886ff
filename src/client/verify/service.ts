import type { EngineAnswer, EngineRequest } from '../../contract/engine.js'
import type { Environment } from '../../system/environment.js'
import type { AnswerLimits } from '../bounded-body.js'
import { openExchange } from '../exchange.js'
import { joinedHeaders } from '../headers.js'

/** The instance being verified. */
export interface Service {
  /** @throws NoAnswerError */
  ask(request: EngineRequest): Promise<EngineAnswer>
  close(): Promise<void>
}

/** Connects to an instance, through the proxies of the environment unless it is on this machine. */
export async function openService(baseUrl: string, env: Environment, limits: AnswerLimits): Promise<Service> {
  const exchange = await openExchange(baseUrl, env)
  return {
    async ask({ method, path, query, headers, body }) {
      const answer = await exchange.send(
        {
          method,
          url: `${baseUrl}${path}${query === '' ? '' : `?${query}`}`,
          headers: Object.entries(headers),
          body: body === '' ? undefined : Buffer.from(body),
        },
        limits,
      )
      return { status: answer.status, headers: joinedHeaders(answer.headers), body: answer.body.toString('utf8') }
    },
    close: exchange.close,
  }
}
