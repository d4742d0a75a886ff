// For pages, which load the library only for a contract in YAML.
export { isScalar, parseDocument } from 'yaml'
