import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { packageDirectory } from '../../../src/system/package-files.js'
import { UNLIMITED } from '../ledger.js'
import type { Experiment, Trial } from '../trial.js'
import { ask, type Heard, statusOf } from '../wire.js'

const SPEC = join(packageDirectory, 'test/contract/specs/other-pets.yaml')

/** Pets of another contract than the packaged one, over kills and stops: what was answered is read back, letter for letter. */
export const otherPets: Experiment = {
  counts: 'pets of another contract written and read back',
  async run(trial) {
    const folder = trial.folder()
    cpSync(SPEC, join(folder, 'spec.yaml'))
    const flags = [...UNLIMITED, '--spec', 'spec.yaml']
    const answered = new Map<string, string>()
    for (let round = 0; round < trial.size(10, 2); round++) {
      const server = await trial.serve(folder, flags)
      for (let i = 0; i < trial.size(50, 10); i++) {
        const body = anyPet(trial)
        const answer = await ask(server.port, 'POST', '/v1/pets', { body })
        const text = bodyOf(answer)
        const id = /^\{"id":(\d+),/.exec(text)?.[1]
        const isKept = statusOf(answer) === 201 && id !== undefined && text === body.replace('{', `{"id":${id},`)
        trial.check(isKept, () => `${statusOf(answer)} ${text} for ${body}`)
        if (id !== undefined) answered.set(id, text)
      }
      for (const [id, text] of answered) {
        const read = bodyOf(await ask(server.port, 'GET', `/v1/pets/${id}`))
        trial.check(read === text, () => `${id} was ${text} and is ${read}`)
      }
      if (round % 2 === 0) await server.kill()
      else await server.stop()
    }
  },
}

function bodyOf(heard: Heard): string {
  return typeof heard === 'string' ? heard : heard.body
}

/** Each field with or without, in the order in which it is written again. */
function anyPet(trial: Trial): string {
  const fields = [
    `"categoryId":${trial.oneOf(['0', '9223372036854775807', '-9223372036854775808'])}`,
    `"status":${trial.oneOf(['"adopted"', '"sold"', '"a \\"quoted\\" one"'])}`,
    `"nickname":${trial.oneOf(['null', '"ü"'])}`,
    `"weight":${trial.oneOf(['1.5', '9007199254740993', '0'])}`,
    `"tags":${trial.oneOf(['[]', '["a","\\n"]'])}`,
    `"owner":${trial.oneOf(['{}', '{"id":9007199254740993,"list":[null,{}]}'])}`,
    `"anything":${trial.oneOf(['true', '-9007199254740993', '[[]]'])}`,
  ].filter(() => trial.integer(0, 2) === 1)
  return `{${[`"name":${trial.oneOf(['"Rex"', '""', '"✓"'])}`, ...fields].join()}}`
}
