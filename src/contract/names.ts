// The names of collections, and of one of their records.

export const PARAMETER = /^\{([^{}]*)\}$/

export function literalsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '' && !PARAMETER.test(segment))
}

export function plainName(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

/** The plain names under which a request has the ids of what a property shows: `ownerid` of `owner`, `tagids` of `tags`. */
export function idNames(property: string): readonly string[] {
  const plain = plainName(property)
  const one = plain.replace(/s$/, '')
  return [plain, `${plain}id`, `${plain}ids`, `${one}id`, `${one}ids`]
}

/** `article` of `/articles`, `category` of `/categories`, `addressBook` of `/address-books`. */
export function isSingular(name: string, collection: string): boolean {
  const [one, many] = [plainName(name), plainName(literalsOf(collection).at(-1) ?? '')]
  return [one, `${one}s`, `${one}es`, one.replace(/y$/, 'ies'), one.replace(/fe?$/, 'ves')].includes(many)
}

/** `article` of `/articles`, `addressBook` of `/address-books`. */
export function singularOf(collection: string): string {
  const many = (literalsOf(collection).at(-1) ?? '').replace(/[-.](\w)/g, (_, letter: string) => letter.toUpperCase())
  const value = many.replace(/ies$/i, 'y').replace(/(ss|x|[nt]ch|sh|tus)es$/i, '$1')
  return (value === many ? many.replace(/(?<!s)s$/i, '') : value).replace(/^[A-Z](?=[a-z])/, (letter) =>
    letter.toLowerCase(),
  )
}

/** Of a flag in a response to say that a request was carried out. */
export const SUCCESS = /^(is_?)?(success(ful)?|ok|succeeded)$/i

/** Of what a success lacks. */
export const FAILURE = /^(?:errors?|warnings?|error_?(?:code|message|description|details?|reason|type))$/i

/** `id`, `uuid`, and the name of a record with one of these: `itemId` of `/items`. */
export function isOwnId(name: string, collection: string): boolean {
  const [, one] = /^(.+?)_?(?:id|uuid|guid)$/i.exec(name) ?? []
  return /^_?(id|uuid|guid|gid|pk)$/i.test(name) || (one !== undefined && isSingular(one, collection))
}

/** Whether a property refers to the records of a collection: `roomId`, `room_id` of `/rooms`. */
export function refersTo(property: string, collection: string): boolean {
  const [, one] = /^(.+?)(?:_id|Id|ID)$/.exec(property) ?? []
  return one !== undefined && isSingular(one, collection)
}
