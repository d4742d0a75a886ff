/** Chalk, in a module that is loaded late. */
export { Chalk } from 'chalk'
