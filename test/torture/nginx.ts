import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../support/redis-server.js'
import { requireTool } from '../support/tools.js'
import { Wire } from './wire.js'

export const HAS_NGINX = requireTool('nginx', () => spawnSync('nginx', ['-v']).status === 0)

/** An nginx of the experiment's own before some servers, as docs/deploy.md says. */
export class Nginx {
  readonly port: number
  readonly #log: string
  readonly #child: ChildProcess

  private constructor(port: number, log: string, child: ChildProcess) {
    this.port = port
    this.#log = log
    this.#child = child
  }

  static async start(folder: string, ports: readonly number[]): Promise<Nginx> {
    const port = await freePort()
    const file = join(folder, 'nginx.conf')
    writeFileSync(file, configuration(folder, port, ports))
    const log = join(folder, 'error.log')
    const child = spawn('nginx', ['-c', file, '-p', folder, '-e', log], { stdio: 'inherit' })
    const nginx = new Nginx(port, log, child)
    for (;;) {
      const wire = await Wire.open(port).catch(() => undefined)
      wire?.close()
      if (wire !== undefined) return nginx
      if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  complaints(): string {
    return readFileSync(this.#log, 'utf8')
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
  }
}

function configuration(folder: string, port: number, ports: readonly number[]): string {
  const servers = ports.map((one) => `server 127.0.0.1:${one} max_fails=0;`).join('\n    ')
  return `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
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
}
