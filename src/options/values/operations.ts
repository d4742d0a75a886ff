import * as v from 'valibot'

const FORM = 'must be the id of an operation, for example listPets'

/** Ids of operations. Which there are, the contract says. */
export const operationsSchema = v.array(v.pipe(v.string(FORM), v.regex(/^[^\s,]+$/, FORM)), FORM)
