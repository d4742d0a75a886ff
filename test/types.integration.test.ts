import { join } from 'node:path'
import type { mock } from 'node:test'
import type sinon from '@sinonjs/fake-timers'
import type { Page } from 'playwright-core'
import ts from 'typescript'
import { describe, expect, expectTypeOf, it, type vi } from 'vitest'
import type { KnownOperation } from '../src/contract/entities.js'
import { packagedContract } from '../src/contract/packaged-contract.js'
import type {
  Controls,
  DurationText,
  FakeTimers,
  OperationName,
  Pet,
  RequestFilter,
  SandboxOptions,
  ScenarioName,
  StormOption,
} from '../src/index.js'
import type { KnownScenario } from '../src/options/options.js'
import { packagedScenarios } from '../src/options/scenario.js'
import { packageDirectory } from '../src/system/package-files.js'

/** The declarations of the package, as an editor reads them. */
const ENTRY = join(packageDirectory, 'dist/types/index.d.ts')
const program = ts.createProgram([ENTRY], { module: ts.ModuleKind.NodeNext, strict: true, skipLibCheck: true })
const checker = program.getTypeChecker()

/** What an editor shows over each property of an exported type. */
function hoversOf(name: string): ReadonlyMap<string, string> {
  const source = program.getSourceFile(ENTRY)
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source)
  const exported = module === undefined ? [] : checker.getExportsOfModule(module)
  const found = exported.find((symbol) => symbol.name === name)
  if (found === undefined) throw new TypeError(`The package exports no ${name}. Has it been built?`)
  const type = checker.getDeclaredTypeOfSymbol(
    found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found,
  )
  return new Map(
    type
      .getProperties()
      .map((property) => [property.name, ts.displayPartsToString(property.getDocumentationComment(checker))]),
  )
}

describe('the declarations of the package', () => {
  it.each(['SandboxOptions', 'StormOption', 'ScenarioContent', 'RequestFilter'])(
    'explain every option of %s',
    (name) => {
      const hovers = hoversOf(name)
      expect(hovers.size).toBeGreaterThan(3)
      const silent = [...hovers].filter(([, text]) => text.length < 'Its id.'.length).map(([option]) => option)
      expect(silent).toEqual([])
    },
  )

  it('say why an id is a number or a bigint', () => {
    expect(hoversOf('Pet').get('id')).toContain('a `number` while that is exact (below 2^53), a `bigint` beyond')
    expect(hoversOf('Pet').get('categoryId')).toContain('`bigint`')
    expectTypeOf<Pet['id']>().toEqualTypeOf<number | bigint>()
  })
})

it.each(['index', 'browser/index', 'browser/client', 'matchers/index'])(
  'the declarations of %s compile without @types/node',
  (entry) => {
    const program = ts.createProgram([join(packageDirectory, `dist/types/${entry}.d.ts`)], {
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
      types: [],
      strict: true,
      skipLibCheck: false,
      noEmit: true,
    })
    const problems = ts
      .getPreEmitDiagnostics(program)
      .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
    expect(problems).toEqual([])
  },
)

describe('an open type', () => {
  /** Each word that an editor offers, once. */
  const OPERATIONS: Readonly<Record<KnownOperation, true>> = {
    listPets: true,
    createPet: true,
    getPet: true,
    listOrders: true,
  }
  const SCENARIOS: Readonly<Record<KnownScenario, true>> = {
    banned: true,
    brownout: true,
    'flaky-network': true,
    'quota-nearly-spent': true,
    storm: true,
    sunset: true,
  }

  it('offers every operation of the contract, and every scenario of the package', () => {
    expect(Object.keys(OPERATIONS)).toEqual(packagedContract().operations.map(({ id }) => id))
    expect(Object.keys(SCENARIOS).sort()).toEqual([...packagedScenarios()].sort())
  })

  it('takes the known words, and any other text', () => {
    expectTypeOf<'listPets'>().toExtend<OperationName>()
    expectTypeOf<string>().toExtend<OperationName>()
    expectTypeOf<'storm' | './mine.yaml'>().toExtend<ScenarioName>()
    expectTypeOf<'30s'>().toExtend<DurationText>()
    expectTypeOf<Parameters<Controls['clock']['advance']>[0]>().toEqualTypeOf<DurationText>()
    expectTypeOf<typeof vi>().toExtend<FakeTimers>()
    expectTypeOf<ReturnType<typeof sinon.install>>().toExtend<FakeTimers>()
    expectTypeOf<typeof mock.timers>().toExtend<FakeTimers>()
    expectTypeOf<Page['clock']>().toExtend<FakeTimers>()
    expectTypeOf<StormOption['for']>().toEqualTypeOf<DurationText | undefined>()
    expectTypeOf<'quota-minute'>().toExtend<NonNullable<RequestFilter['reason']>>()
    expectTypeOf<'listPets:503' | '*:hang'>().toExtend<NonNullable<SandboxOptions['fault']>>()
    expectTypeOf<{ status: 503 }>().toExtend<Parameters<Controls['faults']['add']>[0]>()
    expectTypeOf<{ operation: 'getPet'; fault: 503; retryAfter: '2s' }>().toExtend<
      NonNullable<SandboxOptions['fault']>
    >()
    expectTypeOf<SandboxOptions['banDuration']>().toEqualTypeOf<DurationText | undefined>()
  })
})
