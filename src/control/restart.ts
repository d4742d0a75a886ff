import type { World } from '../space/world.js'

/** Brings a space back to its start. What is stored is replaced first, so that a failed write changes nothing. */
export async function restart(world: World): Promise<void> {
  await world.store?.append({ kind: 'replaced', state: world.surroundings.fixtures })
  world.restart()
}
