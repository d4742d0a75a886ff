/** Values of a parameter for the order of a list, from the end of the records. */
export const DESCENDING = /^(?:desc\w*|-1|newest|latest|backwards?|reverse|true)$/i
export const DIRECTION = new RegExp(`^(?:asc\\w*|1|oldest|earliest|forwards?)$|${DESCENDING.source}`, 'i')
