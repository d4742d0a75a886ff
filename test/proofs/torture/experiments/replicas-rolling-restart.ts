import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../support/redis-server.js'
import { requireTool } from '../../../support/tools.js'
import { ask, Client, statusOf } from '../client.js'
import { History } from '../history.js'
import { startReplicas, untilHealthy } from '../replicas.js'
import type { Experiment, Trial } from '../trial.js'

const HAS_NGINX = requireTool('nginx', () => spawnSync('nginx', ['-v']).status === 0)
const REPLICAS = 3
const CLIENTS = 12

/** All replicas behind nginx are restarted, one after the other, by SIGTERM, while they are used. */
export const replicasRollingRestart: Experiment = {
  counts: 'requests through nginx',
  needsRealTime: true,
  async run(trial) {
    if (!HAS_NGINX) return trial.note('left out: nginx is not installed')
    const group = await startReplicas(trial, REPLICAS, ['--no-rate-limit', '--log-limit', '0'])
    if (group === undefined) return
    const folder = trial.folder()
    const port = await startNginx(
      trial,
      folder,
      group.seats.map(({ server }) => server.port),
    )
    const history = new History(trial, [])
    let isOver = false
    let count = 0
    let resetWrites = 0
    const clients = Array.from({ length: CLIENTS }, async () => {
      const client = new Client(port)
      while (!isOver) {
        const number = ++count
        const pet = { name: `pet ${number}`, categoryId: number }
        const isWrite = number % 4 === 0
        const heard = isWrite
          ? await history.add(pet, (body) => client.ask('POST', '/v1/pets', { body }))
          : await client.ask('GET', '/v1/pets?limit=5')
        // The kernel resets connections that arrive while the port is closed, and nginx does not repeat a POST.
        const isResetWrite = isWrite && statusOf(heard) === 502
        if (isResetWrite) resetWrites++
        const isSuccess = typeof heard !== 'string' && heard.status < 300
        trial.check(isSuccess || isResetWrite, () => `a request was answered ${JSON.stringify(heard)}`)
      }
      client.close()
    })
    const rounds = trial.size(10, 1)
    for (let round = 0; round < rounds; round++) {
      for (const seat of group.seats) {
        const { code } = await seat.server.stop()
        trial.check(code === 0, () => `a replica was stopped and ended with ${code}: ${seat.server.said}`)
        await seat.startAgain()
        await untilHealthy(group.seats)
      }
    }
    isOver = true
    await Promise.all(clients)
    const restarts = rounds * REPLICAS
    trial.check(resetWrites <= restarts, () => `${resetWrites} writes were reset at ${restarts} restarts`)
    if (trial.lost > 0) trial.lose(readFileSync(join(folder, 'error.log'), 'utf8').slice(0, 2000))
    trial.note(
      `${restarts} restarts; ${count} requests; ${history.acknowledged.length} pets acknowledged; ${resetWrites} writes reset`,
    )
  },
}

/** An nginx of the experiment's own before some servers, as docs/deploy.md says. @returns its port */
async function startNginx(trial: Trial, folder: string, ports: readonly number[]): Promise<number> {
  const port = await freePort()
  const servers = ports.map((one) => `server 127.0.0.1:${one} max_fails=0;`).join('\n    ')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${folder}/${of};`)
  const configuration = `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary.join('\n  ')}
  upstream sandbox {
    ${servers}
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://sandbox;
      proxy_next_upstream error timeout http_503;
    }
  }
}
`
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration)
  const args = ['-c', file, '-p', folder, '-e', join(folder, 'error.log')]
  const child: ChildProcess = spawn('nginx', args, { stdio: 'inherit' })
  trial.afterwards(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  })
  while (statusOf(await ask(port, 'GET', '/')) === 'refused') {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return port
}
