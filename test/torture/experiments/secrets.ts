import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { packageDirectory } from '../../../src/system/package-files.js'
import type { Experiment, Trial } from '../trial.js'
import { ask, type RequestParts } from '../wire.js'

const HEADERS = [
  'Authorization',
  'Proxy-Authorization',
  'Cookie',
  'Api-Key',
  'apikey',
  'X-API-Key',
  'X-Auth-Token',
  'Ocp-Apim-Subscription-Key',
  'X-Access-Token',
  'X-Client-Secret',
  'Private-Token',
]
const PARAMETERS = [
  'access_token',
  'api_key',
  'apikey',
  'token',
  'id_token',
  'client_secret',
  'sig',
  'key',
  'api%5Fkey',
]

/** Secrets of clients and keys of the start, looked for in every byte that the sandbox writes or says. */
export const secrets: Experiment = {
  counts: 'places in which a secret was looked for',
  async run(trial) {
    for (let round = 0; round < trial.size(20, 2); round++) {
      await serve(trial, round % 2 === 0 ? [] : ['--any-key'])
      run(trial)
    }
  },
}

async function serve(trial: Trial, flags: readonly string[]): Promise<void> {
  const folder = trial.folder()
  const own = secretOf(trial)
  const keys = ['--api-key', own, '--api-key', `team=${own}-2:pro`]
  const server = await trial.serve(folder, ['--log', 'json', '--store', 'deep/store.json', ...keys, ...flags])
  const { port } = server
  const all = [own]
  for (let request = 0; request < trial.size(200, 60); request++) {
    const secret = secretOf(trial)
    all.push(secret)
    const [target, parts] = hidden(trial, secret)
    await ask(port, trial.oneOf(['GET', 'POST', 'HEAD', 'PUT']), target, parts)
  }
  for (const key of [own, `${own}-2`, `${own}~space`]) await ask(port, 'GET', '/v1/pets?colour=red', { key })
  await ask(port, 'PUT', '/__sandbox/keys/team/ban')
  await ask(port, 'POST', '/v1/pets', { key: own, body: '{"name":"Rex","categoryId":1}' })
  await ask(port, 'PUT', '/__sandbox/snapshots/all')
  const look = (where: string, text: string) => {
    const found = all.find((secret) => text.includes(secret))
    trial.check(found === undefined, () => `${where} holds a secret: ${text.slice(text.indexOf(found ?? ''), 200)}`)
  }
  for (const verb of ['state', 'requests', 'conduct', 'keys', 'spaces', 'snapshots', 'requests?space=space']) {
    const heard = await ask(port, 'GET', `/__sandbox/${verb}`)
    look(verb, typeof heard === 'string' ? heard : heard.body)
  }
  const lookAtFiles = () => {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const stat = statSync(join(folder, name))
      trial.check((stat.mode & 0o077) === 0, () => `${name} is not its user's alone: ${stat.mode.toString(8)}`)
      if (stat.isFile()) look(name, readFileSync(join(folder, name), 'utf8'))
    }
  }
  lookAtFiles()
  await server.stop()
  lookAtFiles()
  look('stderr', server.said)
}

/** A request that has a secret somewhere. */
function hidden(trial: Trial, secret: string): readonly [string, RequestParts] {
  const parameter = `${trial.oneOf(PARAMETERS)}=${secret}`
  return trial.oneOf<readonly [string, RequestParts]>([
    ['/v1/pets', { headers: `${trial.oneOf(HEADERS)}: ${trial.oneOf(['', 'Basic ', 'session='])}${secret}\r\n` }],
    [`/v1/pets?limit=1&${parameter}`, {}],
    [`/v1/nowhere?${parameter}&x=1`, {}],
    [`/elsewhere;${parameter}`, {}],
    ['/v1/pets', { headers: `Referer: https://shop.example/?${parameter}\r\n` }],
    ['/v1/pets', { key: secret }],
  ])
}

/** The same for a report of `exec`. */
function run(trial: Trial): void {
  const folder = trial.folder()
  const secret = secretOf(trial)
  const script = `await fetch(process.env.PETSTORE_BASE_URL + '/nowhere?token=${secret}', { headers: { authorization: 'Bearer ${secret}' } })`
  const command = [join(packageDirectory, 'bin/petstore-sandbox.js'), 'exec', '--api-key', secret]
  for (const file of trial.isShort ? ['report.xml'] : ['report.xml', 'report.json', 'report.txt']) {
    const args = [...command, '--report', file, '--', process.execPath, '--input-type=module', '-e', script]
    execFileSync(process.execPath, args, { cwd: folder, stdio: 'ignore' })
    const text = readFileSync(join(folder, file), 'utf8')
    trial.check(!text.includes(secret) && text.includes('key-'), () => `${file} holds a secret: ${text}`)
  }
}

function secretOf(trial: Trial): string {
  return `sk_live_${trial.integer(1e9, 1e10)}${trial.integer(1e9, 1e10)}`
}
