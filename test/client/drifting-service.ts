import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../src/index.js'

export interface Came {
  readonly method: string
  /** With the query: `/v1/pets?limit=2`. */
  readonly url: string
  readonly key: string | undefined
  readonly body: string
}

export interface Goes {
  status: number
  headers: Record<string, string>
  body: string | Buffer
}

/** Changes a response before it is sent; `drop` cuts the connection instead. */
export type Drift = (came: Came, goes: Goes) => Goes | 'drop' | undefined

/** A service of its own that does as the sandbox does, but for one drift. Gone after the test. */
export async function driftingService(drift: Drift = () => undefined, options: SandboxOptions = {}) {
  const sandbox = await createSandbox({ plan: 'business', seed: 1, ...options })
  const came: Came[] = []
  const server = createServer((request, response) => {
    reply(request, response).catch((error: unknown) => response.destroy(Object(error)))
  })

  async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const body = await text(request)
    const faithful = await sandbox.fetch(new URL(url, sandbox.baseUrl), {
      method,
      headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
        name === 'host' || name === 'connection' || value === undefined ? [] : [[name, String(value)]],
      ),
      ...(body === '' ? {} : { body }),
    })
    const one = { method, url, key: headers.authorization?.replace(/^Bearer /, ''), body }
    came.push(one)
    const plain: Goes = {
      status: faithful.status,
      headers: Object.fromEntries(faithful.headers),
      body: await faithful.text(),
    }
    const changed = drift(one, plain) ?? plain
    if (changed === 'drop') {
      request.socket.destroy()
      return
    }
    delete changed.headers['content-length']
    response.writeHead(changed.status, changed.headers).end(changed.body)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await sandbox.close()
  })
  const { port } = server.address() as AddressInfo
  return { baseUrl: `http://127.0.0.1:${port}${new URL(sandbox.baseUrl).pathname}`, came, sandbox }
}
