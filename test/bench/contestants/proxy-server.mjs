// A proxy in front of a service, as its own documentation shows it: `proxy-server.mjs <port> <name> <upstream>`.
import { Agent, createServer } from 'node:http'

const [port, name, upstream] = process.argv.slice(2)

const START = {
  async 'http-proxy-3'() {
    const { createProxyServer } = await import('http-proxy-3')
    const proxy = createProxyServer({ target: upstream, agent: new Agent({ keepAlive: true }) })
    createServer((request, response) => proxy.web(request, response)).listen(Number(port), '127.0.0.1')
  },
  async '@fastify/http-proxy'() {
    const { default: fastify } = await import('fastify')
    const { default: proxy } = await import('@fastify/http-proxy')
    const server = fastify()
    await server.register(proxy, { upstream })
    await server.listen({ port: Number(port), host: '127.0.0.1' })
  },
}

await START[name]()
