/** The version that removed what is listed here. */
const VERSION = '0.2'

/** Each sentence says what to use instead. Options are in camelCase; `values` are single values of options that stay. */
export const REMOVED: {
  readonly commands: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, string>>
  readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>
} = {
  commands: {
    simulate: 'the conduct report shows which plan would do.',
    playground: 'the dashboard of `serve` shows the requests of your own clients.',
  },
  options: {
    redisWait: 'use the settings of Redis: appendfsync always, min-replicas-to-write.',
    redisFile: 'set PETSTORE_SANDBOX_REDIS to the address.',
    record: 'save a response as a fixture: call listPets -t staging > fixtures/pets.json.',
    upstreamCa: 'set NODE_EXTRA_CA_CERTS to the file.',
  },
  values: {
    upstreamWrites: { local: 'use refuse or forward.' },
  },
}

/** @returns "was removed in 0.2; …", or undefined if it never existed */
export function removedCommand(name: string): string | undefined {
  return notice(REMOVED.commands, name)
}

export function removedOption(name: string): string | undefined {
  return notice(REMOVED.options, name)
}

export function removedValue(option: string, value: unknown): string | undefined {
  return notice(REMOVED.values[option] ?? {}, String(value))
}

function notice(table: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(table, name) ? `was removed in ${VERSION}; ${table[name]}` : undefined
}
