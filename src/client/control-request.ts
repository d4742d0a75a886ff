import { Agent, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps, Agent as SecureAgent } from 'node:https'
import type { ControlReply, ControlRequest } from './control-message.js'

/** Idle connections close well before a server closes them, so that no request is sent into a closed one. */
const KEPT = { keepAlive: true, timeout: 1_000 }
const agents = { http: new Agent(KEPT), https: new SecureAgent(KEPT) }

/**
 * Not with Node's fetch, which waits by the global timers: where a test has faked them, its connections hang.
 *
 * @throws as fetch: a TypeError if there is no response, with the cause
 */
export function requestControl(url: string, { body, ...options }: ControlRequest): Promise<ControlReply> {
  return new Promise((resolve, reject) => {
    const isSecure = url.startsWith('https:')
    const sent = isSecure
      ? requestHttps(url, { ...options, agent: agents.https })
      : requestHttp(url, { ...options, agent: agents.http })
    sent.on('error', (error) => reject(new TypeError('request failed', { cause: error })))
    sent.on('response', (response: IncomingMessage) => {
      resolve({ status: response.statusCode ?? 0, length: response.headers['content-length'], body: response })
    })
    sent.end(body)
  })
}
