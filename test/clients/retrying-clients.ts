import axios from 'axios'
import axiosRetry, { type IAxiosRetryConfig } from 'axios-retry'
import got, { type ExtendOptions } from 'got'
import ky, { type Options as KyOptions } from 'ky'
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
