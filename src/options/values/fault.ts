import * as v from 'valibot'
import { type FaultRule, faultProblem, parseFaultRule, WIRE_FAULTS } from '../../domain/faults.js'
import { mapSchema, oneOf, textSchema } from './reading.js'

const FORM = 'must be a fault such as listPets:503@20%*3'

const faultTextSchema = textSchema<FaultRule>(FORM, (text) => {
  const rule = parseFaultRule(text)
  return typeof rule === 'string' ? { problem: rule } : { value: rule }
})

const number = v.exactOptional(v.number('must be a number'))

const faultMapSchema = v.pipe(
  mapSchema(
    {
      operation: v.pipe(
        v.string('must be an operation or *'),
        v.regex(/^[^:@\s]+$/, 'must be an operation or *, without spaces'),
      ),
      fault: oneOf(['status', ...WIRE_FAULTS]),
      status: number,
      probability: number,
      times: number,
      retryAfter: v.exactOptional(v.string('must be a duration such as 2s')),
    },
    FORM,
  ),
  v.rawTransform(({ dataset, addIssue, NEVER }): FaultRule => {
    const problem = faultProblem(dataset.value)
    if (problem === undefined) return dataset.value
    addIssue({ message: problem })
    return NEVER
  }),
)

/** A fault rule as text or as a map. Whether its operation exists is for the contract to say. */
export const faultSchema = v.union([faultTextSchema, faultMapSchema], FORM)

/** The ordered list of faults. */
export const faultsSchema = v.array(faultSchema, 'must be a list of faults such as listPets:503@20%*3')
