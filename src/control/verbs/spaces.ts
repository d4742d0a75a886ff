import { fields, text } from '../fields.js'
import { noSuchSpace } from '../find-space.js'
import { verb } from '../verb.js'
import type { SpaceView } from '../views.js'

export const list = verb({
  method: 'GET',
  path: '/spaces',
  summary: 'The open spaces other than the default one',
  run: ({ spaces }): readonly SpaceView[] =>
    spaces.names().map((name) => ({
      name,
      pets: spaces.get(name)?.pets.size ?? 0,
      requests: spaces.get(name)?.log.total ?? 0,
    })),
})

export const remove = verb({
  method: 'DELETE',
  path: '/spaces/{name}',
  summary: 'Removes a space with everything in it; its next request starts it afresh',
  input: fields({ name: text }),
  run({ spaces, wall }, { name }) {
    const space = name === '' ? undefined : spaces.get(name)
    const before = space && spaces.wholeOf(space)
    if (before === undefined || !spaces.remove(name)) throw noSuchSpace(spaces, name)
    spaces.remember({ verb: 'spaces.remove', space: name, at: wall, before })
    return { removed: name }
  },
})
