import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { benchDirectory, newFolder } from '../directories.js'
import { type Contestant, launch, NEW_PET, type Operation, type Running } from './contestant.js'

/** An answer as it came: names of headers as spelt, in their order. */
interface Answer {
  readonly status: number | undefined
  readonly headers: readonly string[]
  readonly body: string
}

type Answers = Readonly<Record<Operation, Answer>>

/** Node's own, which it puts on by itself. */
const OF_NODE = /^(connection|keep-alive)$/i

/** Bare node:http, sending the same bytes as a contestant did when it was asked once. Rejects if they are not the same. */
export async function bareLike(model: Contestant): Promise<Contestant> {
  const answers = await asking(model)
  const file = join(newFolder(), 'answers.json')
  writeFileSync(file, JSON.stringify(answers))
  const bare: Contestant = {
    name: 'bare node:http',
    grows: false,
    start: () =>
      launch({
        args: (port) => [join(benchDirectory, 'contestants/bare-server.mjs'), String(port), file],
        cwd: newFolder(),
        basePath: '/v1',
      }),
  }
  if (!isDeepStrictEqual(await asking(bare), answers)) throw new Error('the bare server does not send the same bytes')
  return bare
}

async function asking(contestant: Contestant): Promise<Answers> {
  const running = await contestant.start()
  try {
    return {
      listPets: await ask(running, 'listPets'),
      getPet: await ask(running, 'getPet'),
      createPet: await ask(running, 'createPet'),
    }
  } finally {
    await running.stop()
  }
}

function ask({ urls, key }: Running, operation: Operation): Promise<Answer> {
  const body = operation === 'createPet' ? NEW_PET : undefined
  return new Promise((resolve, reject) => {
    const asked = request(urls[operation], {
      agent: false,
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
    asked.once('error', reject)
    asked.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('end', () => {
        resolve({
          status: response.statusCode,
          headers: withoutNodes(response.rawHeaders),
          body: Buffer.concat(chunks).toString(),
        })
      })
    })
    asked.end(body)
  })
}

function withoutNodes(rawHeaders: readonly string[]): readonly string[] {
  return rawHeaders.filter((_, index) => !OF_NODE.test(rawHeaders[index - (index % 2)] ?? ''))
}
