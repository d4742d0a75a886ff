export { version as packageVersion } from './generated/version.js'
