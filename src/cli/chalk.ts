/** Chalk, in a module that is loaded late: most output has no colours. */
export { Chalk } from 'chalk'
