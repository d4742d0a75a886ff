import * as v from 'valibot'
import { digestOfSandbox } from '../../core/checkpoint.js'
import { fields } from '../fields.js'
import { verb } from '../verb.js'

const TRUE_OR_FALSE = 'must be true or false'

export const replicas = verb({
  method: 'GET',
  path: '/replicas',
  summary:
    'The replicas of the sandbox that are there: name, address, version, position, lag; none of a sandbox by itself; digest=true: the one that is asked says what it holds, too',
  input: fields({
    digest: v.optional(
      v.union(
        [
          v.boolean(),
          v.pipe(
            v.picklist(['true', 'false']),
            v.transform((text) => text === 'true'),
          ),
        ],
        TRUE_OR_FALSE,
      ),
    ),
  }),
  run: ({ replicas = [], spaces }, { digest }) =>
    digest === true
      ? replicas.map((replica) => (replica.isThis ? { ...replica, digest: digestOfSandbox(spaces) } : replica))
      : replicas,
})
