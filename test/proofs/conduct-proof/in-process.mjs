// A sandbox and its client in one process: `node in-process.mjs <dist/index.js> <prelude> [script, its arguments …]`.
// Prints its port and what it said of the client as JSON.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const [index, prelude, script, ...args] = process.argv.slice(2)
const { startSandbox } = await import(index)
const sandbox = await startSandbox()
const { origin, port } = new URL(sandbox.baseUrl)
Object.assign(process.env, {
  PETSTORE_BASE_URL: sandbox.baseUrl,
  PETSTORE_API_KEY: 'sandbox',
  PETSTORE_SANDBOX_URL: `${origin}/__sandbox`,
})
await once(spawn('sh', ['-c', prelude], { stdio: 'ignore' }), 'close')
if (script !== undefined) {
  const { run } = await import(script)
  await Promise.race([run(args), new Promise((resolve) => setTimeout(resolve, Number(process.env.LIMIT_MS)))])
}
process.stdout.write(JSON.stringify({ port: Number(port), said: await sandbox.conduct() }), () => process.exit(0))
