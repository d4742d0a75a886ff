import { type Command, Option } from 'commander'
import type { NewPet, Pet, PetStatus } from '../../contract/entities.js'
import type { Int64 } from '../../contract/int64.js'
import { stringifyJson } from '../../contract/json.js'
import { PET_STATUSES } from '../../domain/pets.js'
import { count, int64 } from './arguments.js'
import { UsageError } from './errors.js'
import { done, type Result } from './result.js'
import { table } from './table.js'
import type { VerbCommands } from './verb-commands.js'

const NONE = 'none'

interface PetFlags {
  readonly name?: string
  readonly categoryId?: Int64
  readonly status?: PetStatus | typeof NONE
}

interface PetFilter {
  readonly limit?: number
}

function limitOf({ limit }: PetFilter): PetFilter {
  return limit === undefined ? {} : { limit }
}

/** Changes state directly: no key, no quota, no exchange in the log. */
export function addPetVerbs(parent: Command, { group, verb, call }: VerbCommands): void {
  verb(parent, 'orders', 'the orders, one a line; needs neither key nor quota', ['orders', 'orders -o json']).action(
    call(async ({ controls }) => {
      const value = await controls.orders()
      return { value, text: value.map((order) => stringifyJson(order)).join('\n') }
    }),
  )
  const pets = group(parent, 'pets', 'the pets; needs neither key nor quota')
  verb(pets, 'list', 'list all pets, newest first', ['pets list', 'pets list --limit 10 -o json'])
    .option('--limit <n>', 'only the first n', count)
    .action(call(async ({ controls }, filter: PetFilter) => view(await controls.pets.list(limitOf(filter)))))
  verb(pets, 'add', 'add a pet', ['pets add --name Rex --category-id 1 --status sold'])
    .requiredOption('--name <name>', 'its name')
    .requiredOption('--category-id <id>', 'its category id', int64)
    .addOption(new Option('--status <status>', 'its status').choices(PET_STATUSES))
    .action(
      call(async ({ controls }, { name, categoryId, status }: NewPet) =>
        view([await controls.pets.add({ name, categoryId, ...(status === undefined ? {} : { status }) })]),
      ),
    )
  verb(pets, 'set', 'change a pet', ['pets set 1 --status sold', 'pets set 1 --name Rex --status none'])
    .argument('<id>', 'its id', int64)
    .option('--name <name>', 'its name')
    .option('--category-id <id>', 'its category id', int64)
    .addOption(new Option('--status <status>', `its status; ${NONE} removes it`).choices([...PET_STATUSES, NONE]))
    .action(
      call(async ({ controls }, id: Int64, { name, categoryId, status }: PetFlags) => {
        if (name === undefined && categoryId === undefined && status === undefined) {
          throw new UsageError('Say what to change: --name, --category-id or --status.')
        }
        const change = {
          ...(name === undefined ? {} : { name }),
          ...(categoryId === undefined ? {} : { categoryId }),
          ...(status === undefined ? {} : { status: status === NONE ? null : status }),
        }
        return view([await controls.pets.set(id, change)])
      }),
    )
  verb(pets, 'remove', 'remove a pet; its id is not reused', ['pets remove 1'])
    .argument('<id>', 'its id', int64)
    .action(
      call(async ({ controls }, id: Int64) => {
        await controls.pets.remove(id)
        return done(`The pet ${id} is removed.`, { removed: id })
      }),
    )
}

function view(value: readonly Pet[]): Result {
  const rows = value.map(({ id, name, categoryId, status }) => [String(id), status ?? '-', String(categoryId), name])
  return {
    value,
    text: (width) => table(['id', 'status', 'category', 'name'], rows, width),
    ...(rows.length === 0 ? { note: 'There are no pets.' } : {}),
  }
}
