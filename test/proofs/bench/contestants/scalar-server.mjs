// Scalar's mock server is a library; this is the least that serves it.
import { readFileSync } from 'node:fs'
import { serve } from '@hono/node-server'
import { createMockServer } from '@scalar/mock-server'

const [port, contract] = process.argv.slice(2)
const app = await createMockServer({ specification: readFileSync(contract, 'utf8') })
serve({ fetch: app.fetch, port: Number(port), hostname: '127.0.0.1' })
