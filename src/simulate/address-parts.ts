/** The parts of a request's address that a simulation asks for. */
export interface AddressParts {
  /** Lower case, with its port; undefined for an address without one. */
  readonly host: string | undefined
  /** Not decoded. */
  readonly path: string
  readonly query: string
}

const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?/i

/** Splits an address, or a target without a host; undefined for what is neither (`data:`, `*`). Nothing is decoded. */
export function addressParts(text: string): AddressParts | undefined {
  const [, host, path = '', query = ''] = ADDRESS.exec(text) ?? []
  if (host === undefined && !path.startsWith('/')) return undefined
  return { host: host?.toLowerCase(), path: path === '' ? '/' : path, query }
}
