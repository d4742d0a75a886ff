import { isUtf8 } from 'node:buffer'
import type { EngineRequest, EngineResponse } from '../../contract/engine.js'
import type { Environment } from '../../system/this-process.js'
import type { ResponseLimits } from '../bounded-body.js'
import { openExchange, type ServiceResponse } from '../exchange.js'
import { joinedHeaders } from '../headers.js'

export interface Service {
  ask(request: EngineRequest): Promise<EngineResponse>
  close(): Promise<void>
}

export function engineResponse({ status, headers, body }: ServiceResponse): EngineResponse {
  return { status, headers: joinedHeaders(headers), body: body.toString('utf8'), isUtf8: isUtf8(body) }
}

export async function openService(baseUrl: string, env: Environment, limits: ResponseLimits): Promise<Service> {
  const exchange = await openExchange(baseUrl, env)
  return {
    async ask({ method, path, query, headers, body }) {
      const response = await exchange.send(
        {
          method,
          url: `${baseUrl}${path}${query === '' ? '' : `?${query}`}`,
          headers: Object.entries(headers),
          body: body === '' ? undefined : Buffer.from(body),
        },
        limits,
      )
      return engineResponse(response)
    },
    close: exchange.close,
  }
}
