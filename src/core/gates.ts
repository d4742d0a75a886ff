import { admit } from './gates/admit.js'
import { ban } from './gates/ban.js'
import { disrupt } from './gates/disrupt.js'
import { exist } from './gates/exist.js'
import { force } from './gates/force.js'
import { retire } from './gates/retire.js'
import { throttle } from './gates/throttle.js'
import { validate } from './gates/validate.js'
import type { Gate } from './request-context.js'

/**
 * The order in which the sandbox asks its questions, once it knows the operation
 * (route) and the caller (identify). The first gate that refuses, answers;
 * a request that passes them all reaches its operation.
 */
export const GATES: readonly Gate[] = [
  force, //    did the caller ask for a certain answer?
  ban, //      is the key banned?
  disrupt, //  is there a storm, or a fault for this operation?
  throttle, // is there quota left in both windows?
  admit, //    is the key valid at all?
  exist, //    is there such an operation?
  retire, //   has it been removed?
  validate, // does the request keep the contract?
]
