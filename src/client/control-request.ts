import type { Agent, IncomingMessage } from 'node:http'
import type { ControlReply, ControlRequest } from './control-message.js'

/** Idle connections close well before a server closes them, so that no request is sent into a closed one. */
const KEPT = { keepAlive: true, timeout: 1_000 }
const agents = new Map<string, Agent>()

/**
 * Not with Node's fetch, which waits by the global timers: where a test has faked them, its connections hang.
 *
 * @throws as fetch: a TypeError if there is no response, with the cause
 */
export function requestControl(
  url: string,
  { body, isLast = false, ...options }: ControlRequest,
): Promise<ControlReply> {
  // Loaded by the first request: most commands send none, and node:https loads TLS.
  const module = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http')
  const { protocol } = new URL(url)
  const agent = agents.get(protocol) ?? new module.Agent(KEPT)
  agents.set(protocol, agent)
  return new Promise((resolve, reject) => {
    const sent = module.request(url, { ...options, agent: isLast ? false : agent })
    sent.on('error', (error) => reject(new TypeError('request failed', { cause: error })))
    sent.on('response', (response: IncomingMessage) => {
      resolve({ status: response.statusCode ?? 0, length: response.headers['content-length'], body: response })
    })
    sent.end(body)
  })
}
