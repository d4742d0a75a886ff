import { setTimeout } from 'node:timers/promises'
import axios from 'axios'
import axiosRetry, { type IAxiosRetryConfig } from 'axios-retry'
import got, { type ExtendOptions } from 'got'
import ky, { type Options as KyOptions } from 'ky'
import { FetchError, type FetchOptions, ofetch } from 'ofetch'
import pRetry, { type Options as PRetryOptions, type RetryContext } from 'p-retry'
import { Agent, errors, RetryAgent, type RetryHandler, request } from 'undici'

/** One request with retries of the client's own; resolves with the last status. */
export type Send = (method: 'GET' | 'POST', url: string, key: string) => Promise<number>

const PET = { name: 'Rex', categoryId: 1 }
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

export function kyClient(retry: KyOptions['retry'] = {}): Send {
  return async (method, url, key) => {
    const body = method === 'POST' ? { json: PET } : {}
    const response = await ky(url, { method, retry, headers: bearer(key), throwHttpErrors: true, ...body }).catch(
      (error) => error.response as Response,
    )
    return response.status
  }
}

export function gotClient(retry: ExtendOptions['retry'] = {}): Send {
  return async (method, url, key) => {
    const body = method === 'POST' ? { json: PET } : {}
    const response = await got(url, { method, retry, headers: bearer(key), throwHttpErrors: false, ...body })
    return response.statusCode
  }
}

export function axiosClient(retry: IAxiosRetryConfig = {}): Send {
  const instance = axios.create()
  axiosRetry(instance, retry)
  return async (method, url, key) => {
    const body = method === 'POST' ? { data: PET } : {}
    const response = await instance
      .request({ method, url, headers: bearer(key), ...body })
      .catch((error) => error.response)
    return response.status
  }
}

export function undiciClient(retry: RetryHandler.RetryOptions = {}): Send {
  const dispatcher = new RetryAgent(new Agent(), retry)
  return async (method, url, key) => {
    const body = method === 'POST' ? { body: JSON.stringify(PET) } : {}
    const headers = { ...bearer(key), 'content-type': 'application/json' }
    try {
      const answer = await request(url, { method, headers, dispatcher, ...body })
      await answer.body.dump()
      return answer.statusCode
    } catch (error) {
      if (error instanceof errors.ResponseError || error instanceof errors.RequestRetryError) return error.statusCode
      throw error
    }
  }
}

/** p-retry ignores Retry-After; its readme shows where to wait for it. */
export function pRetryClient(options: PRetryOptions = {}): Send {
  return async (method, url, key) => {
    const body = method === 'POST' ? { body: JSON.stringify(PET) } : {}
    const headers = { ...bearer(key), 'content-type': 'application/json' }
    const once = async () => {
      const response = await fetch(url, { method, headers, ...body })
      await response.arrayBuffer()
      if (response.status === 429 || response.status >= 500) throw new Refused(response)
      return response.status
    }
    const onFailedAttempt = async ({ error }: RetryContext) => {
      if (error instanceof Refused) await setTimeout(error.wait)
    }
    return pRetry(once, { onFailedAttempt, ...options }).catch((error: unknown) => {
      if (error instanceof Refused) return error.status
      throw error
    })
  }
}

/** ofetch retries after 500 ms by default; `retryDelay` can read Retry-After. */
export function ofetchClient(options: FetchOptions = {}): Send {
  return async (method, url, key) => {
    const body = method === 'POST' ? { body: PET } : {}
    const response = await ofetch
      .raw(url, {
        method,
        headers: bearer(key),
        retry: 2,
        retryDelay: ({ response }) => (response === undefined ? 500 : waitOf(response)),
        ...body,
        ...(options as object),
      })
      .catch((error: unknown) => {
        if (error instanceof FetchError && error.response !== undefined) return error.response
        throw error
      })
    return response.status
  }
}

class Refused extends Error {
  readonly status: number
  readonly wait: number

  constructor(response: Response) {
    super(String(response.status))
    this.status = response.status
    this.wait = waitOf(response, 0)
  }
}

function waitOf({ headers }: Pick<Response, 'headers'>, otherwise = 500): number {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return Number.isNaN(seconds) ? otherwise : seconds * 1000
}
