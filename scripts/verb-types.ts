import { join } from 'node:path'
import ts from 'typescript'
import { packageDirectory } from '../src/system/package-files.js'

/** The types of what verbs take and return. */
export interface VerbTypes {
  readonly program: ts.Program
  readonly checker: ts.TypeChecker
  readonly inputs: ReadonlyMap<string, ts.Type>
  readonly outputs: ReadonlyMap<string, ts.Type>
}

export function readVerbTypes(): VerbTypes {
  const file = join(packageDirectory, 'src/control/verb-map.ts')
  const { config } = ts.readConfigFile(join(packageDirectory, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, packageDirectory)
  const program = ts.createProgram([file], { ...options, types: [] })
  const checker = program.getTypeChecker()
  const symbol = checker.getSymbolAtLocation(program.getSourceFile(file) as ts.SourceFile)
  const exported = checker.getExportsOfModule(symbol as ts.Symbol)
  const typesIn = (name: 'VerbInputs' | 'VerbOutputs'): ReadonlyMap<string, ts.Type> => {
    const table = exported.find((one) => one.name === name) as ts.Symbol
    const properties = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(table))
    return new Map(properties.map((verb) => [verb.name, checker.getTypeOfSymbol(verb)]))
  }
  return { program, checker, inputs: typesIn('VerbInputs'), outputs: typesIn('VerbOutputs') }
}
