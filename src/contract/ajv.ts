/** What compiles schemas, in a module that is loaded late: the packaged contract is compiled when it is built. */
export { Ajv2020 } from 'ajv/dist/2020.js'
export { INT64_KEYWORD } from './int64-keyword.js'
